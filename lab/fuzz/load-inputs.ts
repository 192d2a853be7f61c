import type { Input } from "./input.ts";
import { answeredRequest, JSON_TYPE } from "./request-bytes.ts";

const BYTES = 1_000_000;

/** Requests that are as large as the limits allow, of the shapes that once blocked the process. */
export function inputsOfLoad(): readonly Input[] {
  const refused = `{ ${Array.from({ length: 30 }, (_, n) => `a${n}: orders { items { id } }`).join(" ")} }`;
  const same = `{ ${Array.from({ length: 30 }, (_, n) => `a${n}: books(first: 50) { items { id title } }`).join(" ")} }`;
  const pairs = Array.from({ length: 60_000 }, (_, n) => `{"k${n}":1}`).join();
  const shapes = [
    `[${"{},".repeat(Math.floor(BYTES / 3) - 1)}{}]`,
    `[${pairs}]`,
    "[".repeat(BYTES / 2) + "]".repeat(BYTES / 2),
  ];
  return [
    ...[refused, same].map((query) => `[${Array.from({ length: 10 }, () => JSON.stringify({ query })).join()}]`),
    ...shapes.map((list) => `{"query":"query ($x: [ID!]) { node(id: $x) { id } }","variables":{"x":${list}}}`),
    ...shapes,
    JSON.stringify({ query: `{ ${"a ".repeat(1_999)} }` }),
    JSON.stringify({ query: `{ ${"__typename ".repeat(99)} }` }),
    JSON.stringify({ query: `{ ${"... on Query { __typename } ".repeat(330)} }` }),
  ].map((body) => answeredRequest({ path: "/graphql", headers: [JSON_TYPE], body: body.slice(0, 1_048_576) }));
}
