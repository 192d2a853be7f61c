import { byId, has } from "../elements.ts";
import { leaveFor, messageOf } from "./call.ts";

/** The values of a form by name. Empty ones are left out. */
export type Fields = Readonly<Record<string, string>>;
/** An action of the user. A message that it returns is shown. */
export type Action<Input extends unknown[]> = (...input: Input) => Promise<string | void>;

/** Runs an action of a form or a section, and shows its message or its error there. */
export async function attempt(id: string, act: Action<[]>): Promise<void> {
  const [place, error, status] = [byId(id), byId(`${id}-error`), byId(`${id}-status`)];
  if (place.getAttribute("aria-busy") === "true") return;
  place.setAttribute("aria-busy", "true");
  error.textContent = status.textContent = "";
  try {
    status.textContent = (await act()) ?? "";
    // The button that was pressed may be gone, and the focus with it.
    if (status.textContent !== "" && document.activeElement === document.body) status.focus();
  } catch (thrown) {
    if (leaveFor(thrown)) return;
    error.textContent = messageOf(thrown);
    error.focus();
  } finally {
    place.removeAttribute("aria-busy");
  }
}

/** Runs an action when the form is sent, if the page has it. A message that the action returns is shown in the form. */
export function onSubmit(id: string, act: Action<[Fields]>): void {
  if (!has(id)) return;
  const form = byId<HTMLFormElement>(id);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(id, async () => {
      const message = await act(fieldsOf(form));
      if (message !== undefined) form.reset();
      return message;
    });
  });
}

function fieldsOf(form: HTMLFormElement): Fields {
  const entries = [...new FormData(form)].filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
}
