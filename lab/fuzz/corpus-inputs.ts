import { readFileSync } from "node:fs";
import type { Input } from "./input.ts";
import { answeredRequest, JSON_TYPE } from "./request-bytes.ts";
import { escaped } from "./routes.ts";

const FILES = ["graphql", "auth", "pagination"];

/** The inputs of every row of the corpora: each of its texts as a document, as variables, as a body, and in headers and URLs. */
export function corpusInputs(): readonly Input[] {
  return FILES.flatMap((name) => rowsOf(readFileSync(`spec/corpus/${name}.md`, "utf8"))).flatMap(inputsOf);
}

/** The input column of each row. */
function rowsOf(markdown: string): readonly string[] {
  return markdown
    .split("\n")
    .map((line) => line.split(/(?<!\\)\|/))
    .filter(([, id = ""]) => /^ *[A-Z]+\d+[a-z]? *$/.test(id))
    .map(([, , input = ""]) => input.trim());
}

function inputsOf(row: string): readonly Input[] {
  const texts = [...row.matchAll(/`([^`]+)`/g)].map(([, text = ""]) => text.replaceAll("\\|", "|"));
  // Header values have no control characters here: the raw bytes of requests have a generator of their own.
  return (texts.length === 0 ? [row] : texts).flatMap((text) => [
    post(JSON.stringify({ query: text })),
    post(`{"query":"query ($x: JSON) { books { totalCount } }","variables":${text}}`),
    post(text),
    answeredRequest({ path: `/books?cursor=${escaped(text)}&sort=${escaped(text)}&page=${escaped(text)}` }),
    answeredRequest({ path: "/account/me", headers: [["authorization", `Bearer ${escaped(text)}`]] }),
  ]);
}

function post(body: string): Input {
  return answeredRequest({ path: "/graphql", headers: [JSON_TYPE], body });
}
