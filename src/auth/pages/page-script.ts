import { LOCAL_PATH } from "../accounts/routes/providers/read-return-to.ts";
import { ACCOUNT_SCRIPT } from "./account-script.ts";
import { SIGN_IN_SCRIPT } from "./sign-in-script.ts";

/** Requests, forms and messages, which all pages use. */
const SHARED_SCRIPT = String.raw`"use strict";
const { accounts, home, signIn } = document.body.dataset;
const byId = (id) => document.getElementById(id);
const query = new URLSearchParams(location.search);
const fragment = new URLSearchParams(location.hash.slice(1));
const token = query.get("token") ?? "";
const pending = fragment.get("pending") ?? undefined;

// A secret of a link must not stay in the address bar and the history.
if (query.has("token") || location.hash !== "") {
  const kept = new URLSearchParams(query);
  kept.delete("token");
  history.replaceState(null, "", location.pathname + (kept.size === 0 ? "" : "?" + kept));
}

/** The path to continue at. Only paths of this site are accepted, so that a link cannot lead to another one. */
function destination() {
  const wanted = fragment.get("return_to") ?? query.get("next") ?? "";
  if (/${LOCAL_PATH.source}/.test(wanted)) return wanted;
  const { origin, pathname } = new URL(home, location.href);
  return origin === location.origin ? pathname : "/";
}

const MESSAGES = {
  provider_already_linked: "The provider's account is linked to another user, or you have linked another one.",
  provider_denied: "The sign-in was cancelled.",
  provider_email_not_verified: "Verify your email address at the provider first.",
  provider_email_refused: "Sign in with an account of your organization.",
  provider_link_required: "You already have an account with this email address. Sign in another way, then link the provider on your account page.",
  provider_unavailable: "The provider is unavailable. Try again later, or sign in another way.",
  second_factor_required: "",
  sign_in_again: "Sign in again to continue.",
  sign_in_expired: "The sign-in took too long. Sign in again.",
  unauthenticated: "Sign in to continue.",
};

/** Calls an account route. Throws an error with the members of the problem. */
async function call(method, path, body) {
  const headers = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(accounts + path, { method, headers, body: JSON.stringify(body) }).catch(() => null);
  if (response === null) throw new Error("The server could not be reached. Try again.");
  const text = await response.text();
  if (response.ok) return text === "" ? {} : JSON.parse(text);
  const isProblem = response.headers.get("content-type")?.includes("json");
  throw Object.assign(new Error("The server returned an error. Try again later."), isProblem ? JSON.parse(text) : {});
}

/** Continues on the sign-in page if the error requires it, and comes back later. */
function leaveFor({ code, pending, methods }) {
  const return_to = destination();
  const details = new URLSearchParams({ return_to, ...(pending === undefined ? {} : { pending, methods }) });
  if (code === "second_factor_required") location.assign(signIn + "?error=" + code + "#" + details);
  else if (["sign_in_again", "sign_in_expired", "unauthenticated"].includes(code))
    location.assign(signIn + "?" + new URLSearchParams({ error: code, next: return_to }));
  else return false;
  return true;
}

function messageOf(error) {
  if (error.name === "NotAllowedError") return "The passkey request was cancelled or timed out.";
  if (error.name === "InvalidStateError") return "This device already has a passkey of your account.";
  return error.detail ?? error.message;
}

/** Runs an action of a form or a section, and shows its message or its error there. */
async function attempt(id, act) {
  const [place, error, status] = [byId(id), byId(id + "-error"), byId(id + "-status")];
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
function onSubmit(id, act) {
  const form = byId(id);
  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    void attempt(id, async () => {
      const message = await act(Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== "")));
      if (message !== undefined) form.reset();
      return message;
    });
  });
}

if (query.has("error")) {
  const notice = byId("notice");
  notice.textContent = MESSAGES[query.get("error")] ?? "Signing in failed. Try again.";
  if (notice.textContent !== "") notice.focus();
}

async function newPasskey(options) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return (await navigator.credentials.create({ publicKey })).toJSON();
}

async function usePasskey(options) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return (await navigator.credentials.get({ publicKey })).toJSON();
}
`;

/** Runs in the browser on every page. Texts of the server become text nodes, never HTML. */
export const PAGE_SCRIPT: string = SHARED_SCRIPT + SIGN_IN_SCRIPT + ACCOUNT_SCRIPT;
