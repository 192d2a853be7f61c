import { executesNothing, hidesInternals, suggestsNothing } from "../checks.ts";
import { get, json, post, raw } from "../requests.ts";
import type { Check, HttpRow } from "../row.ts";
import { overHttp, owasp } from "../sources.ts";

const TYPOS = "usr usrs mee viewr nde nods prodct produts bok boks ordr odrers acount postt comment_ helo serch";

const isNotHtml: Check = ({ type, text }) =>
  type === "text/html" && text.includes("<script>gauntlet") ? "the page contains the script of the request" : undefined;

/** Errors that tell more than the client needs. */
export const leakRows: readonly HttpRow[] = [
  {
    id: "LEAK-01",
    title: "shows no stack trace for malformed and invalid requests",
    severity: "advice",
    source: overHttp("GraphQL"),
    why: "Stack traces name files, versions and internal functions.",
    requests: () => [
      raw('{"query":'),
      raw(""),
      raw("null"),
      post("{"),
      post("{unknown}"),
      json({ query: {} }),
      post("query A{__typename}", { operationName: "B" }),
      post("query ($x: Boolean!) {__typename @include(if: $x)}"),
      post("{__typename}", { variables: 1 }),
    ],
    expect: [hidesInternals],
  },
  {
    id: "LEAK-02",
    title: "suggests no names of the schema while introspection is off",
    severity: "advice",
    source: owasp,
    why: "With suggestions, an attacker guesses the schema name by name.",
    needs: ["hiddenSchema"],
    requests: () => TYPOS.split(" ").map((name) => post(`{${name}}`)),
    expect: [suggestsNothing],
  },
  {
    id: "LEAK-03",
    title: "hides __type as well while introspection is off",
    severity: "advice",
    source: owasp,
    why: "A rule that looks only for __schema leaves the other entrance open.",
    needs: ["hiddenSchema"],
    requests: ({ queryType }) => [
      post(`{__type(name:"${queryType}"){fields{name}}}`),
      post(`{...F} fragment F on ${queryType}{a:__type(name:"${queryType}"){fields{name}}}`),
    ],
    expect: [executesNothing],
  },
  {
    id: "LEAK-04",
    title: "does not copy a script from a query over GET into a page",
    severity: "advice",
    source: { name: "CWE-79", url: "https://cwe.mitre.org/data/definitions/79.html" },
    why: "A link could run a script on the origin of the API, with the cookies of the signed-in user.",
    requests: (found) => [
      get(found, { query: "</script><script>gauntlet" }, { accept: "text/html,*/*;q=0.8" }),
      get(found, { query: "{a", variables: '{"</script><script>gauntlet' }, { accept: "text/html,*/*;q=0.8" }),
    ],
    expect: [isNotHtml],
  },
];
