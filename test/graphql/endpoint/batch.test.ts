import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Depend, provide } from "portico";
import { field, mutation, schema, t } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { rawConnection } from "../../http/raw-connection.ts";
import { codesOf, type GraphBody, open, openSchema } from "./open.ts";

const hello = { query: "{ hello }" };

describe("a batch", () => {
  it("[BAT-01] returns an array of results", async () => {
    const { client } = await open();

    const answer = await client.post("/graphql", { body: [hello, { query: "{ a { id } }" }] });

    const results = answer.json() as readonly GraphBody[];
    expect(answer.status).toBe(200);
    expect(results.map(({ data }) => data)).toEqual([{ hello: "world" }, { a: { id: "a" } }]);
  });

  it("[BAT-02] [BAT-03] runs its operations in order, and returns results in that order", async () => {
    const seen: string[] = [];
    const wait = field(t.string, { params: { ms: t.int } })(async ({ ms }) => {
      seen.push(`${ms} begins`);
      await sleep(ms);
      seen.push(`${ms} ends`);
      return `waited ${ms}`;
    });
    const { client } = await openSchema(schema({ query: { wait } }));

    const answer = await client.post("/graphql", {
      body: [{ query: "{ wait(ms: 60) }" }, { query: "{ wait(ms: 1) }" }],
    });

    expect((answer.json() as readonly GraphBody[]).map(({ data }) => data)).toEqual([
      { wait: "waited 60" },
      { wait: "waited 1" },
    ]);
    expect(seen).toEqual(["60 begins", "60 ends", "1 begins", "1 ends"]);
  });

  it("[BAT-04] checks each operation against the limits separately", async () => {
    const { client } = await open({ limits: { cost: 3, aliases: 2 } });
    const three = { query: "{ x: hello y: hello hello }" };
    const four = { query: "{ x: hello y: hello hello hello }" };

    const answer = await client.post("/graphql", { body: [three, four, three] });

    const results = answer.json() as readonly GraphBody[];
    expect(answer.status).toBe(200);
    expect(results.map(({ extensions }) => extensions?.cost?.["cost"])).toEqual([3, 4, 3]);
    expect(results.map(({ errors }) => errors?.map(({ extensions }) => extensions.code))).toEqual([
      undefined,
      ["COST_LIMIT_EXCEEDED"],
      undefined,
    ]);
  });

  it("[BAT-05] [BAT-06] continues after a failing operation, and only that entry has errors", async () => {
    const { client } = await open();
    const failing = [{ query: "{ boom }" }, { query: "{ nope }" }, { query: "{ hello" }, 7, null, {}];

    const answer = await client.post("/graphql", { body: [...failing, hello] });

    const results = answer.json() as readonly GraphBody[];
    expect(results.map(({ errors }) => errors?.[0]?.extensions.code)).toEqual([
      "INTERNAL_SERVER_ERROR",
      "GRAPHQL_VALIDATION_FAILED",
      "GRAPHQL_PARSE_FAILED",
      "BAD_REQUEST",
      "BAD_REQUEST",
      "BAD_REQUEST",
      undefined,
    ]);
    expect(results.map((result) => "data" in result)).toEqual([true, false, false, false, false, false, true]);
    expect(results.at(-1)?.data).toEqual({ hello: "world" });
  });

  it("[BAT-07] [BAT-09] over the limit is 400 BATCH_REFUSED, and no operation runs", async () => {
    const { client, ran } = await open({ transport: { batch: 2 } });
    const none = await open({ transport: { batch: 0 } });

    const answers = [
      await client.post("/graphql", { body: [hello, hello, hello] }),
      await none.client.post("/graphql", { body: [hello] }),
    ];

    for (const answer of answers) expect([answer.status, codesOf(answer)]).toEqual([400, ["BATCH_REFUSED"]]);
    expect([ran, none.ran]).toEqual([{}, {}]);
  });

  it("[BAT-08] without operations is 400 BATCH_REFUSED", async () => {
    const { client } = await open();

    const answer = await client.post("/graphql", { body: [] });

    expect([answer.status, codesOf(answer)]).toEqual([400, ["BATCH_REFUSED"]]);
  });

  it("may contain mutations but no subscription", async () => {
    const { client, ran } = await open();

    const answer = await client.post("/graphql", {
      body: [{ query: "subscription { tick }" }, { query: "mutation { login }" }],
    });

    const results = answer.json() as readonly GraphBody[];
    expect(results[0]?.errors?.[0]).toMatchObject({
      message: "A subscription cannot be part of a batch",
      extensions: { code: "SUBSCRIPTION_NEEDS_STREAM" },
    });
    expect([results[1]?.data, ran]).toEqual([{ login: false }, { login: 1 }]);
  });

  it("[DEP-12] [DEP-14] gives each operation its own values, and closes them with its own outcome before the next", async () => {
    const seen: string[] = [];
    let opened = 0;
    const unitOfWork = provide(async function* ({ ctx }) {
      const name = `unit ${++opened}`;
      seen.push(`${name} opens`);
      try {
        yield name;
      } finally {
        seen.push(`${name}: ${ctx.outcome}`);
      }
    });
    const save = mutation(t.nullable(t.string), { params: { unit: Depend(unitOfWork), fails: t.boolean(false) } })(
      ({ unit, fails }) => {
        if (fails) throw new Error("no");
        return unit;
      },
    );
    const { client } = await openSchema(
      schema({ query: { hello: field(t.string)(() => "world") }, mutation: { save } }),
    );
    const [good, failing] = [{ query: "mutation { a: save b: save }" }, { query: "mutation { save(fails: true) }" }];

    const answer = await client.post("/graphql", { body: [good, failing, good] });

    expect((answer.json() as readonly GraphBody[]).map(({ data }) => data)).toEqual([
      { a: "unit 1", b: "unit 1" },
      { save: null },
      { a: "unit 3", b: "unit 3" },
    ]);
    expect(seen).toEqual([
      "unit 1 opens",
      "unit 1: success",
      "unit 2 opens",
      "unit 2: failure",
      "unit 3 opens",
      "unit 3: success",
    ]);
  });

  it("starts no further operation after its client has disconnected", async () => {
    const begun: string[] = [];
    const slow = field(t.string)(async ({ ctx }) => {
      begun.push("slow");
      await once(ctx.signal, "abort");
      return "left";
    });
    const { client } = await openSchema(schema({ query: { slow } }));
    const { socket } = await rawConnection(client.port);
    const body = JSON.stringify([{ query: "{ slow }" }, { query: "{ slow }" }]);

    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    while (begun.length === 0) await sleep(5);
    socket.destroy();
    await sleep(100);

    expect(begun).toEqual(["slow"]);
  });
});
