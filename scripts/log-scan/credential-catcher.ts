import type { IncomingHttpHeaders } from "node:http";

/** Below this a value says nothing: the word would be in a log for other reasons. */
const MIN_LENGTH = 16;
/** Of a file that shows a hundred thousand, the first ones do: others are of their kind, and memory is measured there. */
const MAX = 5_000;
/** Members of answers that hold a credential. */
const MEMBERS = /"(?:access_token|refresh_token|api_key|key|password|secret|token)"\s*:\s*"((?:[^"\\]|\\.)+)"/g;

/** Keeps every credential that a run of tests meets, and finds those that are where none may be. */
export class CredentialCatcher {
  readonly #credentials = new Set<string>();

  get size(): number {
    return this.#credentials.size;
  }

  add(value: unknown): void {
    if (typeof value !== "string" || value.length < MIN_LENGTH || this.#credentials.size >= MAX) return;
    this.#credentials.add(value);
  }

  /** The credentials of a request: what stands behind the scheme, in each cookie, and in the header of keys. */
  addRequest(headers: IncomingHttpHeaders): void {
    this.add(headers.authorization?.replace(/^\S+\s+/, ""));
    for (const pair of (headers.cookie ?? "").split("; ")) this.add(pair.slice(pair.indexOf("=") + 1));
    this.add(headers["x-api-key"]);
  }

  /** The credentials of an answer: the cookies that it sets, and what its body hands out. */
  addAnswer(setCookie: unknown, body: string): void {
    for (const cookie of [setCookie].flat()) {
      const [pair = ""] = typeof cookie === "string" ? cookie.split(";") : [];
      this.add(pair.slice(pair.indexOf("=") + 1));
    }
    for (const [, value] of body.matchAll(MEMBERS)) this.add(value);
  }

  /** The credentials that the text shows, as they are, as in a URL, or in base64. */
  leaksIn(text: string): readonly string[] {
    return [...this.#credentials].filter((credential) => spellings(credential).some((form) => text.includes(form)));
  }
}

function spellings(credential: string): readonly string[] {
  const bytes = Buffer.from(credential);
  // Without the padding and what stands before it: it depends on what follows.
  const encoded = [bytes.toString("base64"), bytes.toString("base64url")].map((text) => text.replace(/.?=*$/, ""));
  return [credential, encodeURIComponent(credential), JSON.stringify(credential).slice(1, -1), ...encoded];
}
