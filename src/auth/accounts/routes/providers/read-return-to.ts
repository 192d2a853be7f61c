import { BadRequest } from "../../../../kernel/exceptions/http-exception.ts";
import { LOCAL_PATH } from "./local-path.ts";

/** Returns a local path to continue at. Throws 400 for anything else: a link must not lead to another site. */
export function readReturnTo(given: string | undefined): string {
  if (given === undefined) return "/";
  if (!LOCAL_PATH.test(given))
    throw new BadRequest("return_to must be a local path that begins with a single slash", {
      code: "RETURN_TO_INVALID",
    });
  return given;
}

/**
 * Adds the code of an error to the query of a URL, and its members to the fragment, which browsers send to no server.
 */
export function withError(url: string, code: string, members: Readonly<Record<string, unknown>>): string {
  const [page = "", fragment = ""] = url.split("#", 2);
  const failed = `${page}${page.includes("?") ? "&" : "?"}error=${encodeURIComponent(code.toLowerCase())}`;
  const details = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) details.set(name, String(value));
  const end = details.size === 0 ? fragment : details.toString();
  return end === "" ? failed : `${failed}#${end}`;
}
