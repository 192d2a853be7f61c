import { CONTENT_TYPE, form, oneFile, operations } from "../../graphql/uploads/multipart-form.ts";
import type { Everything } from "./everything.ts";
import { BODY, BODY_MS, type Reader, repeating } from "./reader.ts";

/** The headers of a part, beyond which it is refused. */
const PART_HEADERS = 16_000;

const JSON_TEXTS: Reader["texts"] = [
  repeating("["),
  repeating("[]", "[", "]"),
  repeating("1"),
  repeating("1,", "[", "1]"),
  repeating("\\u0000", '"', '"'),
  repeating("\\", '"'),
  repeating('{"a":'),
  repeating('"a":1,', "{", '"a":1}'),
  repeating(" "),
  (size) => repeating("\u00E9", '"', '"')(size / 2),
];

/** The bodies of requests. */
export function bodyReaders({ ask }: Everything): readonly Reader[] {
  const body = (
    name: string,
    [url, type]: readonly [string, string],
    texts: Reader["texts"],
    outcomes: Reader["outcomes"],
    most = BODY,
    around: (text: string) => string | Buffer = (text) => text,
  ): Reader => ({
    name,
    most,
    ...(most > PART_HEADERS ? { mostMs: BODY_MS } : {}),
    texts,
    read: (text) => ask("POST", url, { "content-type": type }, around(text)),
    outcomes,
  });
  const part = (name: string, texts: Reader["texts"], headers: (text: string) => string): Reader =>
    body(name, ["/graphql", CONTENT_TYPE], texts, [200, 400], PART_HEADERS, (text) =>
      form(oneFile("x", { headers: headers(text) })),
    );
  const disposition = 'Content-Disposition: form-data; name="0"';
  const graphql = (name: string, texts: Reader["texts"], around: (text: string) => object): Reader =>
    body(name, ["/graphql", "application/json"], texts, [200, 400, 404], BODY / 2, (text) =>
      JSON.stringify(around(text)),
    );
  const variables = (name: string, texts: Reader["texts"], type: string): Reader =>
    body(
      name,
      ["/graphql", "application/json"],
      texts,
      [200, 400],
      BODY,
      (text) =>
        `{"query":"query ($x: ${type}) { echo(${type === "String" ? "text" : "list"}: $x) }","variables":{"x":${text}}}`,
    );
  return [
    body("a body of JSON", ["/json", "application/json"], JSON_TEXTS, [200, 400, 413]),
    body("a body of JSON with a schema", ["/validated", "application/json"], JSON_TEXTS, [400, 413, 422]),
    body(
      "a body of text",
      ["/text", "text/plain"],
      [repeating("a"), (size) => "\u00E9".repeat(size / 2), (size) => "\u{1F600}".repeat(size / 4)],
      [200],
    ),
    body("a urlencoded form", ["/form", "application/x-www-form-urlencoded"], FORM, [200, 413]),
    body("a multipart form", ["/form", CONTENT_TYPE], MULTIPART, [200, 400, 413]),
    body("the JSON of a GraphQL request", ["/graphql", "application/json"], JSON_TEXTS, [400, 413]),
    body("the form of a GraphQL request", ["/graphql", "application/x-www-form-urlencoded"], FORM, [400, 403]),
    graphql("operationName", [repeating("a"), repeating('"')], (text) => ({ query: "{ echo }", operationName: text })),
    graphql("documentId", [repeating("a"), repeating('"')], (text) => ({ documentId: text })),
    graphql("the hash of a persisted document", [repeating("a")], (text) => ({
      extensions: { persistedQuery: { version: 1, sha256Hash: text } },
    })),
    graphql("the cursor of a connection", [repeating("A"), repeating("-")], (text) => ({
      query: "query ($after: String) { books(first: 1, after: $after) { pageInfo { hasNextPage } } }",
      variables: { after: text },
    })),
    graphql("the text of a filter", [repeating("a"), repeating("%"), repeating("[")], (text) => ({
      query: "query ($text: String!) { books(filter: { title: { startsWith: $text } }) { totalCount } }",
      variables: { text },
    })),
    variables("a string in variables", [repeating("a", '"', '"'), repeating("\\n", '"', '"')], "String"),
    {
      ...variables(
        "a list in variables",
        [repeating("1,", "[", "1]"), repeating('"a",', "[", "1]"), repeating("[")],
        "[Int!]",
      ),
      outcomes: [200, 400, 413],
      // graphql coerces half a million numbers one by one.
      mostMs: 3 * BODY_MS,
    },
    body("operations of an upload", ["/graphql", CONTENT_TYPE], JSON_TEXTS, [400, 413], BODY, (text) =>
      form([{ name: "operations", content: text }]),
    ),
    body(
      "map of an upload",
      ["/graphql", CONTENT_TYPE],
      [
        ...JSON_TEXTS,
        repeating("a.", '{"0":["variables.', '"]}'),
        repeating('"variables.f",', '{"0":[', '"a"]}'),
        repeating('"variables.f.f",', '{"0":[', '"a"]}'),
      ],
      [400, 413],
      BODY - 200,
      (text) => form([operations({ f: null }), { name: "map", content: text }]),
    ),
    body("text before the first part", ["/graphql", CONTENT_TYPE], BOUNDARIES, [400], BODY),
    body("a file of an upload", ["/graphql", CONTENT_TYPE], BOUNDARIES, [200], BODY, (text) => form(oneFile(text))),
    part(
      "the headers of a part",
      [
        repeating("a: b\r\n", "", disposition),
        repeating("a: b\r\n c", "", `\r\n${disposition}`),
        repeating("\r", "a"),
        repeating(":", "a"),
      ],
      (text) => text,
    ),
    part(
      "Content-Disposition of a part",
      [repeating(" ", "", '"x'), repeating('\\"', ' filename="'), repeating("a=b;")],
      (text) => `${disposition};${text}`,
    ),
    part(
      "the name of a file",
      [
        repeating("%22", 'filename="', '"'),
        repeating("/", 'filename="', '"'),
        repeating("%41", "filename*=utf-8''"),
        repeating("'", "filename*=utf-8"),
        repeating("%", "filename*=utf-8''"),
      ],
      (text) => `${disposition}; ${text}`,
    ),
    part(
      "Content-Type of a part",
      [repeating(" ", "a/b", "x"), repeating(";a=b", "a/b"), repeating("/", "a")],
      (text) => `${disposition}; filename="x"\r\nContent-Type: ${text}`,
    ),
  ];
}

const FORM: Reader["texts"] = [
  repeating("&"),
  repeating("a&"),
  repeating("a=1&"),
  repeating("%"),
  repeating("%25", "a="),
  repeating("+", "a="),
];
const BOUNDARIES: Reader["texts"] = [
  repeating("\r\n--portico-boundar"),
  repeating("\r\n"),
  repeating("-"),
  repeating("\r\n--"),
];
const MULTIPART: Reader["texts"] = [
  ...BOUNDARIES,
  repeating(
    '--portico-boundary\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n',
    "",
    "--portico-boundary--\r\n",
  ),
  repeating(
    "a: b\r\n",
    '--portico-boundary\r\nContent-Disposition: form-data; name="a"\r\n',
    "\r\nb\r\n--portico-boundary--\r\n",
  ),
  repeating(
    "%22",
    '--portico-boundary\r\nContent-Disposition: form-data; name="',
    '"\r\n\r\nb\r\n--portico-boundary--\r\n',
  ),
];
