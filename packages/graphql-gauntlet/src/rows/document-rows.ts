import { blamesClient, executesNothing, isAtMost, refuses, responds, staysCalm, succeeds } from "../checks.ts";
import { post, TYPENAME } from "../requests.ts";
import type { HttpRow } from "../row.ts";
import type { HttpRequest } from "../send.ts";
import { advisory, graphql, overHttp, owasp } from "../sources.ts";

/** Large enough to overflow a recursive parser without a limit, small enough for a development server: 35 kB at most. */
const DEEP = 5_000;
const nested = (open: string, close: string, inside = ""): string => open.repeat(DEEP) + inside + close.repeat(DEEP);
const NESTED: readonly HttpRequest[] = [
  post(nested("{a", "}")),
  post(`{__typename @include(if: ${nested("[", "]")})}`),
  post(`{__typename @include(if: ${nested("{a:", "}", "1")})}`),
  post(`query ($x: ${nested("[", "]", "Int")}) {__typename}`),
];
const FLOOD_REASON =
  "Limits on depth, aliases and tokens stop documents that are cheap to send and expensive to execute.";

const many = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(" ");

/** Fragments that spread the next one twice: two to the power of `levels` visits, unless each one is visited once. */
function fanOut(type: string, levels: number): string {
  const fragments = many(levels, (i) => `fragment F${i} on ${type}{...F${i + 1} ...F${i + 1}}`);
  return `{...F0} ${fragments} fragment F${levels} on ${type}{__typename}`;
}

function cycle(type: string, length: number): string {
  return `{...F0} ${many(length, (i) => `fragment F${i} on ${type}{__typename ...F${(i + 1) % length}}`)}`;
}

/** Documents that are large, deep or cyclic. All of them are bounded: the largest has 60 kB. */
export const documentRows: readonly HttpRow[] = [
  {
    id: "DOC-01",
    title: "survives documents that are nested 5,000 levels deep",
    severity: "must",
    source: advisory("CVE-2026-40324"),
    why: "A recursive parser without a limit overflows the stack, which ends the process in some languages.",
    requests: () => NESTED,
    expect: [responds],
  },
  {
    id: "DOC-02",
    title: "rejects documents that are nested 5,000 levels deep with 4xx",
    severity: "should",
    source: overHttp("Status Codes"),
    why: "A 5xx means that the parser failed by accident, and wakes up the person on call.",
    requests: () => NESTED,
    expect: [blamesClient],
  },
  {
    id: "DOC-03",
    title: "rejects fragments that spread each other in a cycle",
    severity: "must",
    source: advisory("CVE-2026-47706"),
    why: "Code that follows the fragments without remembering them never ends or overflows the stack.",
    requests: ({ queryType }) => [1, 2, 100].map((length) => post(cycle(queryType, length))),
    expect: [blamesClient],
  },
  {
    id: "DOC-04",
    title: "visits every fragment once: 26 levels of fragments that spread the next one twice",
    severity: "must",
    source: advisory("CVE-2026-34573"),
    why: "Code that follows each spread needs 67 million steps for a document of 1 kB.",
    requests: ({ queryType }) => [post(fanOut(queryType, 26))],
    expect: [responds],
  },
  {
    id: "DOC-05",
    title: "validates 3,000 repeated fields in time",
    severity: "must",
    source: advisory("CVE-2026-40476"),
    why: "A comparison of every pair of fields takes seconds, before any limit on depth or cost applies.",
    requests: () => [post(`{${many(3_000, () => "__typename")}}`)],
    expect: [responds],
  },
  {
    id: "DOC-06",
    title: "validates nested inline fragments with the same field in time",
    severity: "must",
    source: advisory("GHSA-fc86-6rv6-2jpm"),
    why: "The comparison of every pair multiplies at each level.",
    requests: () => [post(`{${many(40, () => `...{${many(40, () => "...{__typename}")}}`)}}`)],
    expect: [responds],
  },
  {
    id: "DOC-07",
    title: "validates 2,000 unknown directives in time",
    severity: "must",
    source: advisory("CVE-2022-37734"),
    why: "An error for each of them costs time and memory before the document is rejected.",
    requests: () => [post(`{__typename ${"@gauntlet".repeat(2_000)}}`)],
    expect: [executesNothing],
  },
  {
    id: "DOC-08",
    title: "returns at most 100 kB for 2,000 errors in a document of 20 kB",
    severity: "advice",
    source: overHttp("GraphQL"),
    why: "One error per mistake turns a small request into a large response.",
    requests: () => [post(`{__typename ${"@gauntlet".repeat(2_000)}}`), post(`{${many(2_000, (i) => `unknown${i}`)}}`)],
    expect: [isAtMost(100_000)],
  },
  {
    id: "DOC-09",
    title: "rejects 1,000 aliases of one field",
    severity: "advice",
    source: advisory("GHSA-6q22-g298-grjh"),
    why: "Each alias runs the resolver again: one request costs as much as a thousand.",
    requests: () => [post(`{${many(1_000, (i) => `a${i}:__typename`)}}`)],
    expect: [refuses],
  },
  {
    id: "DOC-10",
    title: "rejects a query that is 60 levels deep",
    severity: "advice",
    source: owasp,
    why: FLOOD_REASON,
    needs: ["openSchema"],
    requests: ({ queryType }) => [post(`{__type(name:"${queryType}"){${"ofType{".repeat(60)}name${"}".repeat(60)}}}`)],
    expect: [refuses],
  },
  {
    id: "DOC-11",
    title: "rejects a document of 10,000 tokens",
    severity: "advice",
    source: overHttp("GraphQL"),
    why: FLOOD_REASON,
    requests: () => [post(`{${many(10_000, () => "__typename")}}`)],
    expect: [refuses],
  },
  {
    id: "DOC-12",
    title: "rejects 1,000 valid directives on one field",
    severity: "advice",
    source: owasp,
    why: FLOOD_REASON,
    requests: () => [post(`{${many(500, () => "...@include(if:true)@skip(if:false){__typename}")}}`)],
    expect: [refuses],
  },
  {
    id: "DOC-13",
    title: "executes a small operation beside a comment of 50 kB, or rejects it with 4xx",
    severity: "should",
    source: overHttp("Status Codes"),
    why: "A 5xx for a large document means that a limit is missing or fails in the wrong place.",
    requests: () => [post(`#${"a".repeat(50_000)}\n${TYPENAME}`)],
    expect: [staysCalm],
  },
  {
    id: "DOC-14",
    title: "ignores a byte order mark at the start of a document",
    severity: "should",
    source: graphql("Unicode"),
    why: "Editors write the mark into files, and clients send these files.",
    requests: () => [post(`\uFEFF${TYPENAME}`)],
    expect: [succeeds],
  },
];
