import type { Element, ElementContent, Properties, RootContent } from "hast";
import { fromHtml } from "hast-util-from-html";
import { toHtml } from "hast-util-to-html";

export interface FeedOptions {
  /** The page's own address, which its links are resolved against. */
  page: string;
  /** Shown in place of the figure that the page draws as SVG. */
  image: { src: string; alt: string };
}

/** What says nothing in a feed reader, or says it twice. */
const DROPPED = new Set(["script", "style", "link", "template", "svg", "nav", "button"]);
/** What only carries classes. */
const UNWRAPPED = new Set(["html", "head", "body", "article", "span", "details", "memory-timelines"]);
/** What means something without our style sheets. */
const KEPT = ["href", "src", "alt", "scope", "dateTime"];

/** An article's HTML as feed readers can show it: plain elements, absolute links, TeX for formulas, an image for the figure. */
export function feedHtml(html: string, options: FeedOptions): string {
  const { children } = fromHtml(html);
  return toHtml(children.flatMap((node) => plain(node, options))).trim();
}

function plain(node: RootContent, options: FeedOptions): ElementContent[] {
  if (node.type === "text") return [node];
  if (node.type !== "element" || DROPPED.has(node.tagName)) return [];
  if (node.tagName === "math") return [formula(node)];
  if (node.tagName === "summary") return [{ ...node, tagName: "p", properties: {}, children: texts(node, options) }];
  const children = texts(node, options);
  if (UNWRAPPED.has(node.tagName)) return children;
  if (node.tagName === "figure") return [figure(node, options)];
  return [{ ...node, properties: properties(node.properties, options.page), children }];
}

function texts(node: Element, options: FeedOptions): ElementContent[] {
  return node.children.flatMap((child) => plain(child, options));
}

function properties(all: Properties, page: string): Properties {
  const kept = KEPT.flatMap((name) => {
    const value = all[name];
    if (typeof value !== "string") return [];
    return [[name, name === "href" || name === "src" ? new URL(value, page).href : value]];
  });
  return Object.fromEntries(kept) as Properties;
}

/** Few readers show MathML, and those that strip its tags make nonsense of it. KaTeX leaves the TeX inside. */
function formula(math: Element): Element {
  const code: Element = {
    type: "element",
    tagName: "code",
    properties: {},
    children: [{ type: "text", value: tex(math) }],
  };
  return math.properties["display"] === "block"
    ? { type: "element", tagName: "pre", properties: {}, children: [code] }
    : code;
}

function tex(node: Element): string {
  for (const child of node.children) {
    if (child.type !== "element") continue;
    if (child.tagName === "annotation")
      return child.children
        .map((text) => ("value" in text ? text.value : ""))
        .join("")
        .trim();
    const found = tex(child);
    if (found) return found;
  }
  return "";
}

/** The image, with the caption of the figure that it stands for, and without what the caption folds up. */
function figure(node: Element, options: FeedOptions): Element {
  const caption = node.children.find((child) => child.type === "element" && child.tagName === "figcaption");
  const words = caption?.type === "element" ? caption.children : [];
  const open = words.filter((child) => child.type !== "element" || child.tagName !== "details");
  const img: Element = { type: "element", tagName: "img", properties: { ...options.image }, children: [] };
  const figcaption: Element = {
    type: "element",
    tagName: "figcaption",
    properties: {},
    children: open.flatMap((child) => plain(child, options)),
  };
  return { type: "element", tagName: "figure", properties: {}, children: caption ? [img, figcaption] : [img] };
}
