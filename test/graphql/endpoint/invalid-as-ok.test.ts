import { PorticoApp } from "portico";
import { field, Graph, schema, type TransportOptions, t } from "portico/graphql";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { graphWarnings } from "../../audit/graph-warnings.ts";
import { GRAPHQL_TYPE } from "./open.ts";

function serve(transport: TransportOptions) {
  const app = new PorticoApp({ logger: false });
  const hello = field(t.string, { params: { name: t.string } })(({ name }) => name);
  new Graph(schema({ query: { hello } }), {
    transport,
    formatError: (shown) => ({ extensions: { ...shown.extensions, code: "OTHER" } }),
  }).mount(app);
  const statusOf = async (query: string, accept = "application/json"): Promise<number> =>
    (await testClient(app).post("/graphql", { body: { query }, headers: { accept } })).status;
  return { app, statusOf };
}

const UNKNOWN_FIELD = "{ nope }";
const MISSING_VARIABLE = "query ($name: String!) { hello(name: $name) }";

describe("Transport.invalidAsOk", () => {
  it("sends operations that are not valid with 200, as application/json only", async () => {
    const { statusOf } = serve({ invalidAsOk: true });

    expect(await statusOf(UNKNOWN_FIELD)).toBe(200);
    expect(await statusOf(MISSING_VARIABLE)).toBe(200);
    expect(await statusOf(UNKNOWN_FIELD, GRAPHQL_TYPE)).toBe(400);
    expect(await statusOf("{ hello(")).toBe(400);
  });

  it("is off by default, and the access report names it", async () => {
    expect(await serve({}).statusOf(UNKNOWN_FIELD)).toBe(400);
    expect(await graphWarnings(serve({}).app)).toEqual([]);
    expect(await graphWarnings(serve({ invalidAsOk: true }).app)).toEqual([
      "/graphql sends operations that are not valid with 200 (invalidAsOk)",
    ]);
  });
});
