import { graphqlDocument } from "../graphql-document.ts";
import type { Generator, Input } from "../input.ts";
import type { Known } from "../known.ts";
import { mutateDocumentText, mutateDocumentTree } from "../mutate-document.ts";
import { mutateText, oddJson, oddText } from "../odd-values.ts";
import { answeredRequest, type Header, JSON_TYPE } from "../request-bytes.ts";
import { escaped } from "../routes.ts";
import type { Tape } from "../tape.ts";

/** GraphQL operations that the schema allows, and mutations of their text, their tree and their variables. */
export const graphqlOperations: Generator = { name: "graphql", groupSize: 200, make };

function make(tape: Tape, known: Known): Input {
  const kind = tape.pick(["query", "query", "query", "mutation", "subscription"] as const);
  const document = graphqlDocument(tape, known.schema, known.cursors, kind);
  const change = tape.below(4);
  const tree = change === 1 || change === 2 ? mutateDocumentTree(tape, document.text) : document.text;
  const query = change === 3 || change === 2 ? mutateDocumentText(tape, tree) : tree;
  const variables = tape.oneIn(6) ? mutateText(tape, document.variables) : document.variables;
  const who = caller(tape, known);
  return transport(tape, query, tape.oneIn(8) ? oddJson(tape) : variables, who);
}

function transport(tape: Tape, query: string, variables: string, headers: readonly Header[]): Input {
  const text = JSON.stringify(query);
  const more = tape.oneIn(8) ? `,${tape.pick([operationName, extensions, () => '"__proto__":{"x":1}'])(tape)}` : "";
  switch (tape.below(10)) {
    case 7:
      return answeredRequest({
        path: `/graphql?query=${escaped(query)}&variables=${escaped(variables)}`,
        headers: [...headers, ["apollo-require-preflight", "1"]],
      });
    case 8:
      return answeredRequest({
        path: "/graphql",
        headers: [...headers, JSON_TYPE],
        body: `[{"query":${text},"variables":${variables}}]`,
      });
    case 9: {
      const type = tape.pick([
        "application/graphql",
        "text/plain",
        "application/json; charset=utf-16",
        "application/x-www-form-urlencoded",
        "",
      ]);
      return answeredRequest({ path: "/graphql", headers: [...headers, ["content-type", type]], body: query });
    }
    default:
      return answeredRequest({
        path: "/graphql",
        headers: [...headers, JSON_TYPE, ...accept(tape)],
        body: `{"query":${text},"variables":${variables}${more}}`,
      });
  }
}

function operationName(tape: Tape): string {
  return `"operationName":${JSON.stringify(oddText(tape))}`;
}

function extensions(tape: Tape): string {
  return `"extensions":{"persistedQuery":${tape.oneIn(2) ? oddJson(tape) : `{"version":1,"sha256Hash":${JSON.stringify(oddText(tape))}}`}}`;
}

function accept(tape: Tape): readonly Header[] {
  return tape.oneIn(4)
    ? [
        [
          "accept",
          tape.pick([
            "application/graphql-response+json",
            "application/json;q=0",
            "multipart/mixed",
            "*/*;q=abc",
            ",".repeat(100),
          ]),
        ],
      ]
    : [];
}

/** Anonymous, or one of the users. */
export function caller(tape: Tape, known: Known): readonly Header[] {
  const kind = tape.below(4);
  if (kind === 0) return [];
  return kind === 1
    ? [["cookie", tape.pick(known.cookies)]]
    : [["authorization", `Bearer ${tape.pick(known.accessTokens)}`]];
}
