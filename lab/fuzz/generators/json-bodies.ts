import type { Generator, Input } from "../input.ts";
import { CANARY, type Known } from "../known.ts";
import { mutateText, oddJson, oddText } from "../odd-values.ts";
import { answeredRequest, JSON_TYPE } from "../request-bytes.ts";
import { oddTarget } from "../routes.ts";
import type { Tape } from "../tape.ts";
import { caller } from "./graphql-operations.ts";

/** JSON bodies and query strings for all routes. */
export const jsonBodies: Generator = { name: "json", groupSize: 200, make };

const NAMES: readonly string[] = [
  "books",
  "book",
  "copies",
  "isbn",
  "title",
  "genre",
  "author_id",
  "price_cents",
  "cost_cents",
  "stock",
  "name",
  "permissions",
  "expires_in",
  "refresh_token",
  "token",
  "password",
  "__proto__",
];

function make(tape: Tape, known: Known): Input {
  const { method, path } = oddTarget(tape);
  const headers = caller(tape, known);
  if (method === "GET" || method === "HEAD") return answeredRequest({ method, path, headers });
  const type = tape.below(8) === 7 ? (["content-type", oddText(tape)] as const) : JSON_TYPE;
  const text = body(tape, known);
  return answeredRequest({
    method,
    path,
    headers: [...headers, type],
    body: tape.oneIn(5) ? mutateText(tape, text) : text,
  });
}

function body(tape: Tape, known: Known): string {
  switch (tape.below(8)) {
    case 0:
      return `{"books":[{"book":"book-${tape.below(50)}","copies":${tape.oneIn(2) ? oddJson(tape, 0) : 1}}]}`;
    case 1:
      return `{"isbn":"978${String(tape.below(60_000)).padStart(10, "1")}","title":${JSON.stringify(oddText(tape))},"genre":"poetry","author_id":${JSON.stringify(tape.oneIn(2) ? oddText(tape) : "author-1")},"price_cents":1,"cost_cents":${oddJson(tape, 0)},"stock":1}`;
    case 2:
      return `{"refresh_token":${JSON.stringify(mutateText(tape, tape.pick(known.refreshTokens)))}}`;
    case 3:
      return `{"token":${JSON.stringify(tape.oneIn(2) ? oddText(tape) : CANARY)},"password":"${CANARY}"}`;
    case 4:
      return "[".repeat(tape.below(20_000)) + "]".repeat(tape.below(20));
    case 5:
      return oddJson(tape, 4);
    default:
      return `{${tape.some(5, () => `${JSON.stringify(tape.pick(NAMES))}:${oddJson(tape, 2)}`).join(",")}}`;
  }
}
