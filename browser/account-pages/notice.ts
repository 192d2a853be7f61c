import { byId } from "../elements.ts";
import { query } from "./page.ts";
import { texts } from "./texts.ts";

const code = query.get("error");
// The page for a second factor says it with its title.
if (code !== null && code !== "second_factor_required") showNotice(texts.problems[code] ?? texts.signInFailed);

/** Shows a message above the content of the page. */
export function showNotice(message: string): void {
  const notice = byId("notice");
  notice.textContent = message;
  if (message !== "") notice.focus();
}
