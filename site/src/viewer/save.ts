const SVG = "http://www.w3.org/2000/svg";
/** What a drawing program has to be told, since the page's style sheets stay behind. */
const SHAPE = ["fill", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "opacity", "paint-order"];
const TEXT = ["font-size", "font-weight", "font-family", "text-anchor", "text-decoration-line"];
const MARGIN = 16;
/** Pixels of the PNG for one on the screen. */
const SCALE = 2;

/**
 * The figure as one SVG file, as it looks now: theme, crosshair and what is taken out of the stack included. Words that are
 * HTML become SVG text where they stand.
 */
export function asSvg(figure: HTMLElement): string {
  const caption = figure.querySelector("figcaption");
  const { left, top, width, bottom } = figure.getBoundingClientRect();
  const height = (caption?.getBoundingClientRect().top ?? bottom) - top;
  const root = document.createElementNS(SVG, "svg");
  const size = { width: Math.ceil(width + 2 * MARGIN), height: Math.ceil(height + 2 * MARGIN) };
  set(root, { xmlns: SVG, ...size, viewBox: `0 0 ${size.width} ${size.height}` });
  const paper = document.createElementNS(SVG, "rect");
  set(paper, { ...size, fill: getComputedStyle(document.body).backgroundColor });
  root.append(paper);
  const origin = { x: left - MARGIN, y: top - MARGIN };
  for (const svg of figure.querySelectorAll<SVGSVGElement>(".legend svg, .plot")) root.append(placed(svg, origin));
  for (const words of texts(figure)) if (!caption?.contains(words)) root.append(...written(words, origin));
  return `${new XMLSerializer().serializeToString(root)}\n`;
}

/** The same as a PNG of twice the size. */
export async function asPng(figure: HTMLElement): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([asSvg(figure)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width * SCALE;
    canvas.height = image.height * SCALE;
    canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("This browser makes no PNG of it.")))),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** Hands a file to the person's downloads. */
export function download(content: BlobPart, type: string, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function placed(svg: SVGSVGElement, origin: { x: number; y: number }): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  style(svg, copy);
  const { left, top, width, height } = svg.getBoundingClientRect();
  set(copy, { x: left - origin.x, y: top - origin.y, width, height, overflow: "visible" });
  return copy;
}

function style(from: Element, to: Element): void {
  const computed = getComputedStyle(from);
  if (computed.display === "none" || computed.visibility === "hidden") {
    if (!(from instanceof SVGDefsElement)) return to.remove();
  }
  const children = [...to.children];
  const properties = from instanceof SVGTextElement ? [...SHAPE, ...TEXT] : SHAPE;
  if (from instanceof SVGGeometryElement || from instanceof SVGTextElement)
    for (const name of properties) {
      const value = computed.getPropertyValue(name);
      if (value) to.setAttribute(name, value);
    }
  if (computed.getPropertyValue("vector-effect") !== "none")
    to.setAttribute("vector-effect", computed.getPropertyValue("vector-effect"));
  for (const name of ["class", "data-series", "aria-label", "role"]) to.removeAttribute(name);
  [...from.children].forEach((child, i) => children[i] && style(child, children[i]));
}

/** Text of the page, not of its drawings. */
function texts(figure: Element): Text[] {
  const walker = document.createTreeWalker(figure, NodeFilter.SHOW_TEXT);
  const found: Text[] = [];
  while (walker.nextNode()) {
    const node = walker.currentNode as Text;
    const parent = node.parentElement;
    if (!node.data.trim() || !parent || parent.closest("svg")) continue;
    if (getComputedStyle(parent).visibility !== "hidden") found.push(node);
  }
  return found;
}

/** A text node's lines, each where it stands. */
function written(node: Text, origin: { x: number; y: number }): SVGTextElement[] {
  const parent = node.parentElement;
  if (!parent) return [];
  const computed = getComputedStyle(parent);
  const range = document.createRange();
  const lines: { text: string; box: DOMRect }[] = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getBoundingClientRect();
    const last = lines.at(-1);
    if (last && Math.abs(last.box.top - box.top) < 2) last.text += ` ${word}`;
    else lines.push({ text: word, box });
  }
  return lines.map(({ text, box }) => {
    const line = document.createElementNS(SVG, "text");
    // The baseline of a line box, near enough in every face: four fifths down.
    set(line, { x: box.left - origin.x, y: box.top - origin.y + box.height * 0.8, fill: computed.color });
    for (const name of TEXT) if (name !== "text-anchor") line.setAttribute(name, computed.getPropertyValue(name));
    line.textContent = text;
    return line;
  });
}

function set(element: Element, attributes: Readonly<Record<string, string | number>>): void {
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, typeof value === "number" ? String(Number(value.toFixed(2))) : value);
}
