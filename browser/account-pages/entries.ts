import { byId } from "../elements.ts";
import { type Action, attempt } from "./form.ts";

/** A date as the account page shows it. */
export function day(date: string): string {
  return new Intl.DateTimeFormat("en", { dateStyle: "medium" }).format(new Date(date));
}

/** A button for one entry of a list. Its label names the entry, because all of them show the same text. */
export function button(section: string, text: string, entry: string, act: Action<[]>): HTMLElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.setAttribute("aria-label", `${text} ${entry}`);
  element.addEventListener("click", () => void attempt(section, act));
  return element;
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
