import type { Everything } from "./everything.ts";
import { HEADERS, type Reader, repeating } from "./reader.ts";

/** The longest parameter of a path that the router matches. */
const PARAMETER = 8_000;

const QUERY: Reader["texts"] = [
  repeating("&"),
  repeating("a&"),
  repeating("a=1&"),
  repeating("="),
  repeating("%"),
  repeating("%25"),
  repeating("+", "a="),
  repeating("[a]"),
  repeating("?"),
  (size) => Array.from({ length: size / 7 }, (_, at) => `k${at}=1`).join("&"),
];

/** The request line: paths, and the parameters in queries. */
export function targetReaders({ ask, write, explorer }: Everything): readonly Reader[] {
  const path = (prefix: string, most: number, outcomes: Reader["outcomes"]): Reader => ({
    name: `the path of ${prefix}`,
    most,
    texts: [
      repeating("a"),
      repeating("a/"),
      repeating("/", "", "x"),
      repeating("%2F"),
      repeating("%25"),
      repeating("%"),
      repeating(";"),
      repeating("../"),
      repeating(":"),
    ],
    read: (text) => ask("GET", `${prefix}${text}`),
    outcomes,
  });
  const query = (
    name: string,
    prefix: string,
    texts: Reader["texts"],
    outcomes: Reader["outcomes"],
    headers: Readonly<Record<string, string>> = {},
  ): Reader => ({ name, most: HEADERS, texts, read: (text) => ask("GET", `${prefix}${text}`, headers), outcomes });
  const value = (name: string, unit: string, outcomes: Reader["outcomes"]): Reader =>
    query(`the parameter ${name}`, `/${name}=`, [repeating(unit), repeating(`${unit},`), repeating("-")], outcomes);
  return [
    path("/", HEADERS, [400, 404]),
    path("/items/", PARAMETER, [200, 400, 404]),
    path("/files/", HEADERS, [200, 400, 404]),
    path("/account/sessions/", PARAMETER, [400, 401, 404, 405]),
    path("/docs/", HEADERS, [400, 404]),
    {
      name: "an absolute target",
      most: HEADERS,
      texts: [repeating("a"), repeating("/"), repeating("@"), repeating(":")],
      read: (text) => write([`GET http://${text} HTTP/1.1`, "Host: localhost"]),
      outcomes: [400, 404],
    },
    query("a query", "/query?", QUERY, [200]),
    query("a query with a schema", "/checked?", [...QUERY, repeating("a=b&")], [200, 422]),
    query("the query in links of pages", "/pages?", QUERY, [200]),
    query("the query of the OpenAPI page", "/docs?", [...QUERY, repeating("/"), repeating("#")], [200]),
    query("the query of the explorer", "/graphql?", QUERY, [304], explorer),
    query("the query of a GraphQL request", "/graphql?query={echo}&", QUERY, [200, 400]),
    query(
      "GraphQL variables in a query",
      "/graphql?query={echo}&variables=",
      [repeating("["), repeating("1", '{"a":'), repeating('{"a":'), repeating("%22")],
      [400],
    ),
    value("pages?page", "1", [400, 422]),
    value("pages?page_size", "1", [400, 422]),
    value("offsets?offset", "1", [400, 422]),
    value("offsets?limit", "1", [400, 422]),
    value("cursors?cursor", "A", [400, 422]),
    value("cursors?sort", "id", [400, 422]),
    value("cursors?title.in", "id", [400, 422]),
    value("cursors?title.startsWith", "%25", [400, 422]),
    value("cursors?number.gt", "1", [400, 422]),
    value("cursors?since.gt", "1", [400, 422]),
    query(
      "the names of filters",
      "/cursors?",
      [...QUERY, repeating(".", "a"), repeating("title."), repeating("title=1&")],
      [200, 400],
    ),
  ];
}
