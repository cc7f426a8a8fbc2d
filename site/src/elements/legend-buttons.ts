import type { Series } from "../lib/categories";

/** Makes a button of each of the legend's names. Returns what shows which of them are out of the stack. */
export function legendButtons(
  figure: Element,
  toggle: (series: Series) => void,
): (hidden: ReadonlySet<Series>) => void {
  const buttons = [...figure.querySelectorAll<HTMLElement>(".legend li")].map((item) => {
    const series = item.dataset["series"] as Series;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...item.childNodes);
    button.addEventListener("click", () => toggle(series));
    item.append(button);
    return { series, button };
  });
  const press = (hidden: ReadonlySet<Series>) => {
    for (const { series, button } of buttons) button.ariaPressed = String(!hidden.has(series));
  };
  press(new Set());
  return press;
}
