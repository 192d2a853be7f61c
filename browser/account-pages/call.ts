import { accounts, destination, signIn } from "./page.ts";

/** An error of an account route, with members of its problem. */
interface CallError extends Error {
  readonly code?: string;
  readonly detail?: string;
  readonly pending?: string;
  readonly methods?: readonly string[];
}

/** Calls an account route. Throws an error with the members of the problem. */
export async function call<Body = unknown>(method: string, path: string, body?: object): Promise<Body> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(accounts + path, { method, headers, body: JSON.stringify(body) }).catch(() => null);
  if (response === null) throw new Error("The server could not be reached. Try again.");
  const text = await response.text();
  if (response.ok) return (text === "" ? {} : JSON.parse(text)) as Body;
  const isProblem = response.headers.get("content-type")?.includes("json") ?? false;
  throw Object.assign(new Error("The server returned an error. Try again later."), isProblem ? JSON.parse(text) : {});
}

/** Continues on the sign-in page if the error requires it, and comes back later. */
export function leaveFor(error: unknown): boolean {
  const { code = "", pending, methods } = error as CallError;
  const return_to = destination();
  if (code === "second_factor_required") {
    const details = { return_to, ...(pending === undefined ? {} : { pending, methods: String(methods) }) };
    location.assign(`${signIn}?error=${code}#${new URLSearchParams(details)}`);
  } else if (["sign_in_again", "sign_in_expired", "unauthenticated"].includes(code))
    location.assign(`${signIn}?${new URLSearchParams({ error: code, next: return_to })}`);
  else return false;
  return true;
}

/** The message about an error that the user reads. */
export function messageOf(error: unknown): string {
  const { name, detail, message } = error as CallError;
  if (name === "NotAllowedError") return "The passkey request was cancelled or timed out.";
  if (name === "InvalidStateError") return "This device already has a passkey of your account.";
  return detail ?? message;
}
