import { byId } from "../elements.ts";
import { type Action, attempt } from "./form.ts";

/** A button for one entry of a list. Its label names the entry, because all of them show the same text. */
export function button(section: string, text: string, entry: string, act: Action<[]>): HTMLElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.setAttribute("aria-label", `${text} ${entry}`);
  element.addEventListener("click", () => void attempt(section, act));
  return element;
}

/** The name of an entry with facts about it. */
export function described(name: string, ...facts: readonly string[]): HTMLElement {
  const [place, title, details] = [
    document.createElement("div"),
    document.createElement("strong"),
    document.createElement("div"),
  ];
  title.textContent = name;
  details.className = "quiet";
  details.textContent = facts.join(" · ");
  place.append(title, details);
  return place;
}

/** Replaces the entries of a list. */
export function fill(id: string, entries: readonly (readonly (string | Node)[])[]): void {
  const items = entries.map((parts) => {
    const item = document.createElement("li");
    item.append(...parts);
    return item;
  });
  byId(id).replaceChildren(...items);
}
