import { oddText } from "./odd-values.ts";
import type { Tape } from "./tape.ts";

/** The routes of the shop, without those that hash a password. */
const ROUTES: readonly (readonly [method: string, path: string])[] = [
  ["GET", "/books"],
  ["GET", "/books/newest"],
  ["GET", "/books/stock"],
  ["GET", "/books/:id"],
  ["GET", "/books/:id/cover"],
  ["POST", "/books"],
  ["GET", "/authors"],
  ["GET", "/orders"],
  ["GET", "/orders/:id"],
  ["POST", "/orders"],
  ["GET", "/account/me"],
  ["GET", "/account/sessions"],
  ["DELETE", "/account/sessions/:id"],
  ["GET", "/account/keys"],
  ["POST", "/account/keys"],
  ["DELETE", "/account/keys/:id"],
  ["POST", "/account/refresh"],
  ["POST", "/account/verify"],
  ["POST", "/account/email/confirm"],
  ["POST", "/account/password/reset/confirm"],
  ["GET", "/operations/metrics"],
  ["GET", "/operations/prometheus"],
  ["GET", "/operations/page"],
  ["GET", "/graphql"],
  ["POST", "/graphql"],
  ["GET", "/"],
  ["GET", "/docs"],
  ["GET", "/openapi.json"],
  ["GET", "/livez"],
  ["GET", "/readyz"],
  ["GET", "/new-password"],
];

const PARAMETERS: readonly string[] = [
  "page",
  "page_size",
  "cursor",
  "sort",
  "limit",
  "offset",
  "genre",
  "query",
  "variables",
  "operationName",
  "extensions",
  "__proto__",
  "page[]",
  "page[a]",
  "token",
];

export interface Target {
  readonly method: string;
  readonly path: string;
}

/** A route, often with odd parameters. */
export function oddTarget(tape: Tape): Target {
  const [method, template] = tape.pick(ROUTES);
  let path = template.replaceAll(":id", () => (tape.oneIn(2) ? escaped(oddText(tape)) : "book-1"));
  if (tape.oneIn(8)) path = oddPath(tape, path);
  if (tape.oneIn(2)) path += `?${oddQuery(tape)}`;
  return {
    method: tape.oneIn(8) ? tape.pick(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "QUERY"]) : method,
    path,
  };
}

function oddPath(tape: Tape, path: string): string {
  return tape.pick([
    `${path}/`,
    `/${path}`,
    path.toUpperCase(),
    `${path}/${escaped(oddText(tape))}`,
    `http://shop.example${path}`,
    `http://other.example${path}`,
    `${path}%`,
    `${path}#fragment`,
    path.replace("/", "/./"),
    `${path};a=b`,
    `/..%2f${path}`,
    `${path}\\`,
    `/${"a/".repeat(tape.below(400))}`,
    `/${"a".repeat(tape.below(9_000))}`,
  ]);
}

function oddQuery(tape: Tape): string {
  return tape
    .some(5, () => `${tape.pick(PARAMETERS)}${tape.pick(["=", "=", "=", ""])}${escaped(oddText(tape))}`)
    .join(tape.pick(["&", "&", "&", ";", "&&"]));
}

/** Percent-encoded, also if it is not well-formed. */
export function escaped(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : encodeURIComponent(text.toWellFormed());
}
