import { executesNothing, returns, staysCalm, succeeds } from "../checks.ts";
import { json, post, raw, TYPENAME } from "../requests.ts";
import type { HttpRow } from "../row.ts";
import { advisory, overHttp } from "../sources.ts";

const INHERITED = ["constructor", "toString", "hasOwnProperty", "valueOf"];
const SETTERS = ["__proto__", "__defineGetter__"];
const POLLUTION =
  "A name that every object inherits reaches code of the whole process if results and variables are plain objects.";

/** Names that JavaScript objects inherit, and other objects that a server may look up by name. */
export const nameRows: readonly HttpRow[] = [
  {
    id: "NAME-01",
    title: "executes fields under the aliases __proto__, constructor and toString without a trace",
    severity: "must",
    source: advisory("CVE-2026-32621"),
    why: POLLUTION,
    requests: () => [...INHERITED, ...SETTERS].map((name) => post(`{${name}:__typename}`)),
    expect: [staysCalm],
  },
  {
    id: "NAME-02",
    title: "returns the value of a field under such an alias",
    severity: "should",
    source: overHttp("Body"),
    why: "A lost field looks like a missing value to the client.",
    requests: () => [post(`{${INHERITED.map((name) => `${name}:__typename`).join(" ")}}`)],
    expect: [
      (answer, found) => returns(Object.fromEntries(INHERITED.map((name) => [name, found.queryType])))(answer, found),
    ],
  },
  {
    id: "NAME-03",
    title: "does not execute an operation whose required variable, named toString, was not sent",
    severity: "must",
    source: advisory("CVE-2026-32621"),
    why: "A lookup in a plain object finds the inherited function and uses it as the value.",
    requests: () =>
      INHERITED.flatMap((name) => [
        post(`query ($${name}: Boolean!) { __typename @include(if: $${name}) }`),
        post(`query ($${name}: Boolean!) { __typename @include(if: $${name}) }`, { variables: {} }),
      ]),
    expect: [executesNothing],
  },
  {
    id: "NAME-04",
    title: "uses the value of a variable with such a name",
    severity: "should",
    source: overHttp("Request Parameters"),
    why: "The name is valid GraphQL, so the operation has to work.",
    requests: () =>
      INHERITED.map((name) =>
        post(`query ($${name}: Boolean!) { __typename @include(if: $${name}) }`, { variables: { [name]: true } }),
      ),
    expect: [succeeds],
  },
  {
    id: "NAME-05",
    title: "survives __proto__ in the body, in variables and in extensions",
    severity: "must",
    source: advisory("CVE-2026-32621"),
    why: POLLUTION,
    requests: () => [
      raw(`{"query":"${TYPENAME}","__proto__":{"query":"{polluted}","data":1}}`),
      raw(`{"query":"${TYPENAME}","variables":{"__proto__":{"x":1},"constructor":{"prototype":{"x":1}}}}`),
      raw(`{"query":"${TYPENAME}","extensions":{"__proto__":{"x":1}}}`),
    ],
    expect: [staysCalm],
  },
  {
    id: "NAME-06",
    title: "executes nothing for an unknown operationName that every object inherits",
    severity: "must",
    source: overHttp("Status Codes"),
    why: "A lookup in a plain object finds an inherited function, and the server fails or executes nothing without an error.",
    requests: () =>
      [...INHERITED, ...SETTERS].map((operationName) => json({ query: "query A { __typename }", operationName })),
    expect: [executesNothing],
  },
  {
    id: "NAME-07",
    title: "blames the client for such an operationName: no 5xx",
    severity: "should",
    source: overHttp("Status Codes"),
    why: "A 5xx means that the lookup failed by accident.",
    requests: () =>
      [...INHERITED, ...SETTERS].map((operationName) => json({ query: "query A { __typename }", operationName })),
    expect: [staysCalm],
  },
  {
    id: "NAME-08",
    title: "spreads a fragment with such a name",
    severity: "should",
    source: overHttp("Validation"),
    why: "The name is valid GraphQL, so the operation has to work.",
    requests: ({ queryType }) =>
      INHERITED.map((name) => post(`{...${name}} fragment ${name} on ${queryType} {__typename}`)),
    expect: [succeeds],
  },
  {
    id: "NAME-09",
    title: "rejects an unknown fragment, directive, type and field with such a name, without a 5xx",
    severity: "should",
    source: overHttp("Status Codes"),
    why: "A lookup in a plain object finds something that is not part of the schema.",
    requests: () => [
      post("{...constructor}"),
      post("{__typename @constructor}"),
      post("query ($x: constructor) {__typename}"),
      post("{constructor}"),
      post("{__proto__}"),
    ],
    expect: [executesNothing, staysCalm],
  },
];
