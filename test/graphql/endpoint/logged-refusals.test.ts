import { PorticoApp } from "portico";
import { field, Graph, mutation, schema, t } from "portico/graphql";
import { type LogCatcher, liveClient, logCatcher } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { bodyOf, openSchema } from "./open.ts";

const built = schema({
  query: { hello: field(t.string, { params: { n: t.int(1) } })(() => "world") },
  mutation: { signIn: mutation(t.string, { params: { password: t.string } })(() => "in") },
});

const refusals = ({ lines }: LogCatcher) => lines.filter((line) => "code" in line);

describe("the log line of a request that graphql rejects", () => {
  it.each([
    [
      "a variable",
      { query: "mutation ($password: String!) { signIn(password: $password) }", variables: { password: 48151623 } },
    ],
    ["the document", { query: "mutation { signIn(password: 48151623) }" }],
  ])("does not contain the invalid value, in %s", async (_where, body) => {
    const { client, log } = await openSchema(built);

    const answer = await client.post("/graphql", { body });

    expect(answer.status).toBe(400);
    expect(refusals(log)).toHaveLength(1);
    expect(log.text).not.toContain("48151623");
  });

  it("is short, however long the value, and so is the response", async () => {
    const { client, log } = await openSchema(built);
    const body = { query: "query ($n: Int) { hello(n: $n) }", variables: { n: '"'.repeat(200_000) } };

    const answer = await client.post("/graphql", { body });

    expect(bodyOf(answer).errors?.[0]?.message).toMatch(/^Variable "\$n" .*\.\.\.$/s);
    expect(answer.text().length).toBeLessThan(3_000);
    expect(log.text.length).toBeLessThan(1_000);
  });

  it("has no stack", async () => {
    const { client, log } = await openSchema(built);

    await client.post("/graphql", {
      body: { query: `{ ${Array.from({ length: 20 }, (_, n) => `f${n}`).join(" ")} }` },
    });

    expect(log.text).not.toContain("    at ");
    expect(new Set(refusals(log).map(({ code }) => code))).toEqual(new Set(["GRAPHQL_VALIDATION_FAILED"]));
  });
});

it("writes no log line for a request that is rejected under overload", async () => {
  const [entered, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const log = logCatcher();
  const app = new PorticoApp({ logger: log, load: { maxInFlight: 1 } });
  const slow = field(t.string)(async () => {
    entered.resolve();
    await release.promise;
    return "done";
  });
  new Graph(schema({ query: { slow } })).mount(app);
  const client = await liveClient(app);
  onTestFinished(() => client.close());

  const first = client.post("/graphql", { body: { query: "{ slow }" } });
  await entered.promise;
  const second = await client.post("/graphql", { body: { query: "{ slow }" } });
  release.resolve();
  await first;

  expect(second.status).toBe(503);
  expect(bodyOf(second).errors?.[0]?.extensions).toMatchObject({ code: "OVERLOADED" });
  expect(log.text).not.toContain("OVERLOADED");
});
