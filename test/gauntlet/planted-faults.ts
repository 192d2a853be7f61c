import { type Fault, type Received, type Reply, refusal } from "./reference-server.ts";

const GRAPHQL = "application/graphql-response+json";
const BOTH = `${GRAPHQL}, application/json;q=0.9`;

const ok = (data: unknown): Reply => ({ status: 200, body: JSON.stringify({ data }) });
const queryOf = ({ method, params, body }: Received): string => {
  if (method === "GET") return params.get("query") ?? "";
  try {
    const { query } = JSON.parse(body) as { readonly query?: unknown };
    return typeof query === "string" ? query : "";
  } catch {
    return "";
  }
};
/** Behaves wrongly in these cases, and correctly in all others. */
const when =
  (isCase: (request: Received) => boolean, wrong: Reply | null): Fault =>
  (request, correct) =>
    isCase(request) ? wrong : correct();
/** Sends 200 where the correct status is this one. */
const hidden = (isCase: (request: Received) => boolean): Fault => {
  return async (request, correct) => {
    const reply = await correct();
    return isCase(request) && reply.status >= 400 ? { ...reply, status: 200 } : reply;
  };
};
const bodyIs =
  (...bodies: readonly string[]) =>
  ({ method, body }: Received): boolean =>
    method === "POST" && bodies.includes(body);
const queryHas =
  (pattern: RegExp) =>
  (request: Received): boolean =>
    pattern.test(queryOf(request));
const asJson = (request: Received): Received => ({ ...request, contentType: "application/json" });

/** For each binding row, a server that does one thing wrong. */
export const plantedFaults: Readonly<Record<string, Fault>> = {
  "MEDIA-01": when(({ accept }) => accept === BOTH, refusal(400)),
  "MEDIA-02": async ({ accept }, correct) => ({
    ...(await correct()),
    ...(accept === GRAPHQL ? { type: "application/json" } : {}),
  }),
  "MEDIA-04": async ({ accept }, correct) => ({
    ...(await correct()),
    ...(accept === BOTH ? { type: "application/json" } : {}),
  }),
  "MEDIA-05": async ({ accept }, correct) => ({
    ...(await correct()),
    ...(accept.includes("q=0.1, application/json") ? { type: GRAPHQL } : {}),
  }),
  "MEDIA-06": when(({ accept }) => accept === "*/*", refusal(406)),
  "MEDIA-07": when(({ accept }) => accept === "application/xml", refusal(400)),
  "MEDIA-11": when(({ contentType }) => contentType.includes("charset"), refusal(415)),
  "MEDIA-12": when(({ contentType }) => contentType === "Application/JSON", refusal(415)),
  "MEDIA-14": when(({ body }) => Buffer.byteLength(body) !== body.length, refusal(400)),
  "MEDIA-16": hidden(({ contentType }) => contentType === "application/x-gauntlet"),
  "STATUS-01": hidden(queryHas(/^(?:\{|\{ __typename|query query \{)$/)),
  "STATUS-03": hidden(queryHas(/gauntletUnknownField/)),
  "STATUS-05": hidden(bodyIs('{"query":')),
  "STATUS-07": hidden(bodyIs("")),
  "STATUS-08": hidden(bodyIs("null")),
  "STATUS-10": when(bodyIs("NONSENSE"), { status: 400, type: GRAPHQL, body: "oops" }),
  "STATUS-11": when(queryHas(/gauntletUnknownField/), { status: 422, body: '{"errors":{"message":"unknown"}}' }),
  "STATUS-12": when(queryHas(/gauntletUnknownField/), {
    status: 422,
    body: '{"data":null,"errors":[{"message":"x"}]}',
  }),
  "STATUS-16": when(({ method }) => method === "DELETE", refusal(405)),
  "STATUS-17": hidden(bodyIs("{}")),
  "PARAM-01": hidden(bodyIs('{"query":0}')),
  "PARAM-05": when(({ body }) => body.includes('"variables":null'), refusal(400)),
  "PARAM-06": when(({ body }) => body.includes('"gauntlet"'), refusal(400)),
  "PARAM-07": when(({ body }) => body.includes('"operationName":"B"'), ok({ a: "Query" })),
  "PARAM-08": when(({ body }) => body.includes('"operationName":"C"'), ok({ a: "Query" })),
  "PARAM-09": when(queryHas(/^query A \{ a: __typename \} query B/), ok({ a: "Query" })),
  "PARAM-10": when(({ body }) => body.includes('"variables":{"x":false}'), ok({ a: "Query", b: "Query" })),
  "PARAM-11": hidden(({ body }) => body.includes('"x":"yes"')),
  "PARAM-12": hidden(queryHas(/^(?:fragment|type|#)/)),
  "PARAM-20": (request, correct) => correct({ ...request, body: request.body.replace("\\u0000", "") }),
  "GET-01": when(({ params }) => params.get("query") === "mutation{__typename}", ok({ __typename: "Mutation" })),
  "GET-02": when(({ params }) => params.get("operationName") === "M", ok({ __typename: "Mutation" })),
  "GET-04": when(({ params }) => params.get("query") === "mutation{__typename}", refusal(405)),
  "GET-05": when(
    ({ params }) => params.get("query")?.includes("mutation") === true,
    refusal(405, "x", { allow: "POST" }),
  ),
  "GET-06": when(({ params }) => params.get("variables") === '{"x":false}', ok({ a: "Query", b: "Query" })),
  "GET-07": when(({ params }) => params.get("variables") === "", refusal(400)),
  "GET-14": hidden(({ method, params }) => method === "GET" && params.get("query") === "{"),
  "CSRF-01": (request, correct) => correct(request.contentType === "text/plain" ? asJson(request) : request),
  "CSRF-02": (request, correct) =>
    correct(request.contentType.includes("application/json") ? asJson(request) : request),
  "CSRF-03": when(({ contentType }) => contentType.startsWith("multipart/"), ok({ __typename: "Mutation" })),
  "DOC-01": when(queryHas(/(?:\[){5000}/), null),
  "DOC-03": when(queryHas(/\.\.\.F0\}$/), { status: 500, body: "Maximum call stack size exceeded" }),
  "DOC-04": when(queryHas(/fragment F26 on/), null),
  "DOC-05": when(queryHas(/(?:__typename ){2000}/), null),
  "DOC-06": when(queryHas(/(?:\.\.\.\{__typename\} ){30}/), null),
  "DOC-07": when(queryHas(/(?:@gauntlet){2000}/), ok({ __typename: "Query" })),
  "NAME-01": when(queryHas(/^\{__proto__:/), refusal(500)),
  "NAME-03": when(({ body }) => /\$toString(?!.*"variables")/.test(body), ok({ __typename: "Query" })),
  "NAME-05": when(({ body }) => body.includes('"extensions":{"__proto__"'), refusal(500)),
  "NAME-06": when(({ body }) => body.includes('"operationName":"constructor"'), ok({ __typename: "Query" })),
};
