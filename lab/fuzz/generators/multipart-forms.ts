import type { Generator, Input } from "../input.ts";
import type { Known } from "../known.ts";
import { mutateText, oddJson, oddText } from "../odd-values.ts";
import { answeredRequest, type Header, requestBytes } from "../request-bytes.ts";
import type { Tape } from "../tape.ts";

/** GraphQL uploads: parts that are missing, repeated, out of order, too large, or not parts at all. */
export const multipartForms: Generator = { name: "multipart", groupSize: 150, make };

const QUERY = 'mutation ($file: Upload!) { setCover(book: "book-1", file: $file) { id } }';

function make(tape: Tape, known: Known): Input {
  const edge = tape.mostly("edge", ["-", "a".repeat(70), "edge'()+_,./:=?"]);
  const parts = order(tape, [
    operations(tape),
    map(tape),
    file(tape),
    ...tape.some(tape.mostly(0, [2]), () => file(tape)),
  ]);
  const text = `${parts.map((part) => `--${edge}\r\n${part}\r\n`).join("")}--${edge}--\r\n`;
  const body = Buffer.from(
    tape.oneIn(5) ? mutateText(tape, text, ["", "\r\n", "--", `--${edge}`, "\0", "\r", "content-type: a\r\n"]) : text,
  );
  const headers: readonly Header[] = [
    ["authorization", `Bearer ${tape.pick(known.accessTokens.slice(6))}`],
    ["content-type", contentType(tape, edge)],
    ...(tape.oneIn(6) ? [] : [["apollo-require-preflight", "1"] as const]),
  ];
  if (tape.below(6) !== 5) return answeredRequest({ path: "/graphql", headers, body });
  // The end of the body never comes.
  const bytes = requestBytes({ path: "/graphql", headers, body });
  const cut = bytes.length - 1 - tape.below(body.length);
  return {
    pieces: [{ bytes: bytes.subarray(0, cut) }],
    ending: tape.pick(["half-close", "disconnect", "wait"]),
    requests: 1,
  };
}

function contentType(tape: Tape, edge: string): string {
  const quoted = /^\w+$/.test(edge) ? edge : `"${edge}"`;
  if (tape.below(6) !== 5) return `multipart/form-data; boundary=${quoted}`;
  return tape.pick([
    "multipart/form-data",
    "multipart/form-data; boundary=",
    'multipart/form-data; boundary="',
    `multipart/form-data; boundary=${edge}; boundary=x`,
    `multipart/mixed; boundary=${edge}`,
    `multipart/form-data; boundary=${"a".repeat(300)}`,
    `Multipart/Form-Data; BOUNDARY=${edge}; charset=utf-16`,
    `multipart/form-data; boundary*=utf-8''${edge}`,
  ]);
}

function operations(tape: Tape): string {
  const variables = tape.mostly('{"file":null}', ['{"file":[null]}', "{}", '{"file":1}', '{"__proto__":null}']);
  const value = tape.below(8) === 7 ? oddJson(tape) : `{"query":${JSON.stringify(QUERY)},"variables":${variables}}`;
  return field("operations", value);
}

function map(tape: Tape): string {
  const path = tape.mostly("variables.file", [
    "variables.file.0",
    "variables",
    "",
    "query",
    "0.variables.file",
    "__proto__.x",
    "variables.__proto__.x",
    "variables.constructor.prototype.x",
    "variables.file.length",
    "a.".repeat(300),
  ]);
  const value =
    tape.below(8) === 7
      ? oddJson(tape)
      : JSON.stringify({
          [tape.mostly("0", ["1", "__proto__", ""])]: [path, ...tape.some(tape.mostly(0, [2]), () => path)],
        });
  return field("map", value);
}

function file(tape: Tape): string {
  const name = tape.mostly("0", ["1", "operations", "map", oddText(tape)]);
  const type = tape.mostly("image/png", ["image/jpeg", "text/html", "", 'image/png; a="', oddText(tape)]);
  const fileName = tape.mostly("cover.png", ["../../x", "", oddText(tape), "a".repeat(1_000)]);
  const head = `content-disposition: form-data; name="${name}"; filename${tape.mostly('="', ["*=utf-8''", '*0="'])}${fileName}"`;
  const content = "x".repeat(tape.pick([0, 10, 100, 3_000, 70_000]));
  return `${head}\r\ncontent-type: ${type}${tape.oneIn(8) ? `\r\n${"x-header: y\r\n".repeat(tape.below(200))}` : ""}\r\n\r\n${content}`;
}

function field(name: string, value: string): string {
  return `content-disposition: form-data; name="${name}"\r\n\r\n${value}`;
}

function order(tape: Tape, parts: readonly string[]): readonly string[] {
  switch (tape.below(6)) {
    case 4:
      return parts.toReversed();
    case 5:
      return [...parts.slice(0, tape.below(parts.length + 1)), ...parts];
    default:
      return parts;
  }
}
