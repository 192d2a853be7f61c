import { accounts, destination, signIn, stepUp } from "./page.ts";
import { duration, fillText, texts } from "./texts.ts";

/** An error of an account route, with members of its problem. */
interface CallError extends Error {
  readonly code?: string;
  readonly detail?: string;
  readonly pending?: string;
  readonly methods?: readonly string[];
  readonly retryAfter?: number;
}

/** Calls an account route. Throws an error with the members of the problem. */
export async function call<Body = unknown>(method: string, path: string, body?: object): Promise<Body> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(accounts + path, { method, headers, body: JSON.stringify(body) }).catch(() => null);
  if (response === null) throw new Error(texts.offline);
  const text = await response.text();
  if (response.ok) return (text === "" ? {} : JSON.parse(text)) as Body;
  const isProblem = response.headers.get("content-type")?.includes("json") ?? false;
  const problem = isProblem ? (JSON.parse(text) as object) : {};
  const retryAfter = Number(response.headers.get("retry-after") ?? 60);
  throw Object.assign(new Error(texts.failed), problem, { retryAfter });
}

/** Continues on the page that the error requires, and comes back later. */
export function leaveFor(error: unknown): boolean {
  const { code = "", pending, methods } = error as CallError;
  const next = destination();
  if (pending !== undefined) {
    const details = { return_to: next, pending, methods: String(methods) };
    location.assign(`${signIn}?error=${code}#${new URLSearchParams(details)}`);
  } else if (code === "second_factor_required" || code === "sign_in_again")
    location.assign(`${stepUp}?${new URLSearchParams({ error: code, next })}`);
  else if (code === "sign_in_expired" || code === "unauthenticated")
    location.assign(`${signIn}?${new URLSearchParams({ error: code, next })}`);
  else return false;
  return true;
}

/** The message about an error that the user reads. */
export function messageOf(error: unknown): string {
  const { name, code = "", detail, message, retryAfter = 60 } = error as CallError;
  if (name === "NotAllowedError") return texts.passkeyCancelled;
  if (name === "InvalidStateError") return texts.passkeyExists;
  const known = texts.problems[code];
  return known === undefined ? (detail ?? message) : fillText(known, { wait: duration(retryAfter) });
}
