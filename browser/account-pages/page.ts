import { LOCAL_PATH } from "../../src/auth/accounts/routes/providers/local-path.ts";

/** The paths that the server writes into every page. */
const { accounts = "", home = "", signIn = "", stepUp = "" } = document.body.dataset;

export { accounts, signIn, stepUp };

export const query: URLSearchParams = new URLSearchParams(location.search);
export const fragment: URLSearchParams = new URLSearchParams(location.hash.slice(1));
/** The secret of a link in an email. */
export const token: string = query.get("token") ?? "";

// A secret of a link must not stay in the address bar and the history.
if (query.has("token") || location.hash !== "") {
  const kept = new URLSearchParams(query);
  kept.delete("token");
  history.replaceState(null, "", location.pathname + (kept.size === 0 ? "" : `?${kept}`));
}

/** The path to continue at. Only paths of this site are accepted, so that a link cannot lead to another one. */
export function destination(): string {
  const wanted = fragment.get("return_to") ?? query.get("next") ?? "";
  if (LOCAL_PATH.test(wanted)) return wanted;
  const { origin, pathname } = new URL(home, location.href);
  return origin === location.origin ? pathname : "/";
}
