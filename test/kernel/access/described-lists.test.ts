import { every, type Gate, isEqual, not, PorticoApp, rule, some } from "portico";
import { useAuth } from "portico/auth";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";

interface Row {
  readonly org: string;
}
const byColumn = (): Gate<true, any, any> =>
  rule<Row>({ name: "row.column", allows: () => true, where: () => isEqual("org", "a") });
const byCode = (): Gate<true, any, any> => rule<Row>({ name: "row.code", allows: () => true });
const ofCaller = (user: { readonly identity: string }): boolean => user.identity === "ann";
const ofPlace = (user: { readonly identity: string }, place: object): boolean => user === place;

/** The response of a list that the gate restricts, as the OpenAPI document describes it. */
async function described(gate: Gate<any, any, any>): Promise<{ description: string; totals: unknown }> {
  const paginated = { strategy: "page_number", item: z.object({ org: z.string() }), rule: gate } as never;
  const app = new PorticoApp({ logger: false, openapi: true }).get("/rows", { paginated }, ({ response }) =>
    response.paginate([], { strategy: "page_number" }),
  );
  const document: any = (await testClient(app).get("/openapi.json")).json();
  const { description, content } = document.paths["/rows"].get.responses["200"];
  const schema = content["application/json"].schema;
  const totals = schema.properties.pagination.properties.total_items.type;
  return { description, totals };
}

describe("the OpenAPI document of a list", () => {
  it.each<[string, () => Gate<any, any, any>]>([
    ["row.column", () => byColumn()],
    ["not(row.column)", () => not(byColumn())],
    ["every(auth, row.column)", () => every(true, byColumn())],
    ["every(ofCaller, row.column)", () => every(ofCaller, byColumn())],
    ["some(auth, row.column)", () => some(useAuth({ permissions: ["read"] }), byColumn())],
  ])("has totals if a database can decide by columns: %s", async (name, make) => {
    const { description, totals } = await described(make());

    expect(description).toBe(`OK. Only the items that the rule ${name} allows.`);
    expect(totals).toBe("integer");
  });

  it.each<[string, () => Gate<any, any, any>]>([
    ["row.code", () => byCode()],
    ["not(row.code)", () => not(byCode())],
    ["every(row.column, row.code)", () => every(byColumn(), byCode())],
    ["some(row.column, row.code)", () => some(byColumn(), byCode())],
    ["some(row.code, row.column)", () => some(byCode(), byColumn())],
    ["every(row.column, ofPlace)", () => every(byColumn(), ofPlace as never)],
  ])("has totals that may be null otherwise: %s", async (name, make) => {
    const { description, totals } = await described(make());

    expect(description).toBe(`OK. Only the items that the rule ${name} allows.`);
    expect(totals).toEqual(["integer", "null"]);
  });
});
