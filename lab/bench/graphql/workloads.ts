import { authors, items } from "./library.ts";

/** What a client sends and gets back. */
export interface Workload {
  readonly title: string;
  /** The number of requests in a round: few, so that many rounds fall between two interruptions by other processes. */
  readonly requests: number;
  /** The body of the request with this number. */
  readonly body: (n: number) => string;
}

const fields = (books: string): string => `id name born country genre books${books} { id title year price }`;
const selection = (args: string, books: string): string => `authors${args} { ${fields(books)} }`;

const list = `{ ${selection("", "")} }`;

/** Twenty documents that differ in the name of their operation, with variables. */
const rotating = Array.from({ length: 20 }, (_, n) =>
  JSON.stringify({
    query: `query List${n}($authors: Int!, $books: Int!) { ${selection("(first: $authors)", "(first: $books)")} }`,
    operationName: `List${n}`,
    variables: { authors: 20, books: 5 },
  }),
);

const mutation = JSON.stringify({
  query: "mutation Add($input: BookInput!) { addBook(input: $input) { id title year price } }",
  variables: { input: { title: "Emma", year: 1815, price: 12.5 } },
});

const constant = (query: string): ((n: number) => string) => {
  const text = JSON.stringify({ query });
  return () => text;
};

export const workloads: Readonly<Record<string, Workload>> = {
  A: { title: "{ hello }", requests: 1_000, body: constant("{ hello }") },
  B: { title: "20 x 5 objects", requests: 100, body: constant(list) },
  C: { title: "B with variables, 20 documents", requests: 100, body: (n) => rotating[n % 20] ?? "" },
  D: {
    title: "B, never the same document",
    requests: 100,
    body: (n) => JSON.stringify({ query: `query Once${n} ${list}` }),
  },
  E: { title: "a mutation with an input", requests: 800, body: () => mutation },
  F: { title: "10,000 objects", requests: 8, body: constant("{ items { id name } }") },
  G: {
    title: "B behind a session, a field gate, a type rule and a connection",
    requests: 100,
    body: constant(`{ authors(first: 20) { edges { node { ${fields("")} } } } }`),
  },
};

/** What every server must return. */
export const expected: Readonly<Record<string, unknown>> = {
  A: { hello: "world" },
  B: { authors },
  C: { authors },
  D: { authors },
  E: { addBook: { id: "new", title: "Emma", year: 1815, price: 12.5 } },
  F: { items },
  G: { authors: { edges: authors.map((node) => ({ node })) } },
};
