import type { LiveClient } from "portico/testing";
import { password } from "./open-shop.ts";

export type Headers = Readonly<Record<string, string>>;

/** Returns the headers of a seeded user with a token. */
export async function byToken(client: LiveClient, name: string): Promise<Headers> {
  const answer = await client.post("/account/token", { body: { identifier: name, password } });
  const { access_token } = answer.json() as { readonly access_token: string };
  return { authorization: `Bearer ${access_token}` };
}

/** Returns the headers of a seeded user with a session. */
export async function bySession(client: LiveClient, name: string): Promise<Headers> {
  const answer = await client.post("/account/login", { body: { identifier: name, password } });
  return { cookie: cookieOf(answer.cookies) };
}

/** Returns the cookies that a browser would send back. */
export function cookieOf(cookies: readonly string[]): string {
  return cookies.map((cookie) => cookie.split(";", 1)[0]).join("; ");
}

/** Builds a multipart request as the upload convention defines it. */
export function upload(
  query: string,
  variables: object,
  file: { type: string; bytes: Uint8Array },
): {
  readonly headers: Headers;
  readonly body: Uint8Array;
} {
  const body = Buffer.concat([
    Buffer.from(`${part("operations")}${JSON.stringify({ query, variables: { ...variables, file: null } })}\r\n`),
    Buffer.from(`${part("map")}${JSON.stringify({ 0: ["variables.file"] })}\r\n`),
    Buffer.from(part("0", `; filename="cover"\r\ncontent-type: ${file.type}`)),
    file.bytes,
    Buffer.from("\r\n--edge--\r\n"),
  ]);
  return { headers: { "content-type": "multipart/form-data; boundary=edge" }, body };
}

function part(name: string, more = ""): string {
  return `--edge\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
}
