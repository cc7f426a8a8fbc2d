import { MemoryTimelinesElement } from "../elements/memory-timelines";
import { memory, unitFor } from "../lib/format";
import { figure } from "../lib/markup/figure";
import { markup } from "../lib/markup/markup";
import type { Mode } from "../lib/modes";
import { readLink, writeLink } from "./link";
import { read } from "./read";
import { asPng, asSvg, download } from "./save";
import { ViewerError } from "./error";

/** One file, or what came in a link. */
interface Source {
  name: string;
  about: string;
  modes: readonly Mode[];
}

const MOST_FILES = 2;
const MOST_MODES = 4;
const ID = "memory";

const part = <E extends HTMLElement>(name: string): E => {
  const found = document.querySelector<E>(`#viewer-${name}`);
  if (!found) throw new Error(`the page has no #viewer-${name}`);
  return found;
};
const [drop, input, status, complaint, tools, stage] = [
  part("drop"),
  part<HTMLInputElement>("input"),
  part("status"),
  part("complaint"),
  part("tools"),
  part("stage"),
] as const;

let sources: readonly Source[] = [];

/** Opens files beside what is there, or in its place where there would be more than two. */
async function openFiles(files: readonly File[]): Promise<void> {
  if (files.length === 0) return;
  const kept = sources.length + files.length > MOST_FILES ? [] : sources;
  if (files.length > MOST_FILES) return complain(`That is ${files.length} files; the viewer compares up to two.`);
  say(`Reading ${files.map(({ name }) => name).join(" and ")} …`);
  const found: Source[] = [];
  for (const file of files) {
    const answer = await read(file);
    if ("complaint" in answer) return complain(answer.complaint);
    found.push({ name: file.name, ...answer });
  }
  show([...kept, ...found]);
}

/** Shows what a link carries. */
async function openLink(hash: string): Promise<void> {
  try {
    const modes = await readLink(hash);
    if (modes) show([{ name: "from a link", about: "Data that came in a link, thinned to fit into it.", modes }]);
  } catch (error) {
    if (!(error instanceof ViewerError)) throw error;
    complain(error.message);
  }
}

function show(shown: readonly Source[]): void {
  sources = shown;
  complaint.hidden = true;
  tools.hidden = false;
  const several = sources.length > 1;
  const modes = allModes();
  const unit = unitFor(Math.max(...modes.map(({ timeline }) => timeline.peak_gb)));
  const peaks = modes.map(({ label, timeline }) => `${label}: peak ${memory(timeline.peak_gb, unit)}`).join("; ");
  say(`${peaks}.`);
  const about = sources.map(
    ({ about: words }, i) => markup`<p>${several && markup`<b>${names()[i]}</b>: `}${words}</p>`,
  );
  const element = new MemoryTimelinesElement();
  const title = names().join(" and ");
  element.innerHTML = figure(modes, { id: ID, title, caption: markup`${about}` }).text;
  stage.replaceChildren(element);
  void element.explore(Object.fromEntries(modes.map(({ key, timeline }) => [key, timeline])));
}

/** Every mode that is shown, under keys and names that tell two files apart. */
function allModes(): Mode[] {
  const several = sources.length > 1;
  return names()
    .flatMap((name, i) =>
      (sources[i]?.modes ?? []).map((mode) => ({
        ...mode,
        key: `file-${i}-${mode.key}`,
        label: several ? `${name}: ${mode.label}` : mode.label,
      })),
    )
    .slice(0, MOST_MODES);
}

/** What the files are called, numbered where two have one name. */
function names(): string[] {
  const twice = sources.length > 1 && new Set(sources.map(({ name }) => name)).size === 1;
  return sources.map(({ name }, i) => (twice ? `${name} (${i + 1})` : name));
}

function say(words: string): void {
  status.textContent = words;
}

function complain(words: string): void {
  say("");
  complaint.textContent = words;
  complaint.hidden = false;
}

const drawn = () => {
  const found = stage.querySelector("figure");
  if (!found) throw new Error("nothing is drawn");
  return found;
};
const baseName = () => (sources[0]?.name ?? "memory").replace(/(\.raw)?(\.json|\.pickle|\.gz)*$/, "") || "memory";

part("svg").addEventListener("click", () => download(asSvg(drawn()), "image/svg+xml", `${baseName()}.svg`));
part("png").addEventListener("click", () => {
  void asPng(drawn()).then(
    (blob) => download(blob, "image/png", `${baseName()}.png`),
    (error: unknown) => complain(String(error)),
  );
});
part("link").addEventListener("click", () => {
  void writeLink(allModes()).then(async (hash) => {
    history.replaceState(history.state, "", hash);
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied. It carries the data itself, thinned; nothing is stored anywhere.");
    } catch {
      say("The link is in the address bar. It carries the data itself, thinned; nothing is stored anywhere.");
    }
  });
});
part("clear").addEventListener("click", () => {
  history.replaceState(history.state, "", location.pathname);
  location.reload();
});

input.addEventListener("change", () => void openFiles([...(input.files ?? [])]).then(() => (input.value = "")));
addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.classList.add("over");
});
addEventListener("dragleave", (event) => {
  if (!event.relatedTarget) drop.classList.remove("over");
});
addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  void openFiles([...(event.dataTransfer?.files ?? [])]);
});
addEventListener("paste", ({ clipboardData }) => {
  const files = [...(clipboardData?.files ?? [])];
  const text = clipboardData?.getData("text") ?? "";
  if (files.length > 0) void openFiles(files);
  else if (text.includes("#data=")) void openLink(text.trim());
  else if (/^\s*[[{]/.test(text)) void openFiles([new File([text], "pasted.json")]);
});
addEventListener("hashchange", () => void openLink(location.hash));

part("without").hidden = true;
drop.hidden = false;
void openLink(location.hash);
