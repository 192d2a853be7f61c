import { setTimeout as sleep } from "node:timers/promises";
import type { GraphQLSchema } from "graphql";
import { Depend } from "portico";
import { field, schema, t } from "portico/graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rawConnection } from "../../http/raw-connection.ts";
import { CONTENT_TYPE, form, json, map } from "../uploads/multipart-form.ts";
import { type Endpoint, Section } from "./harness.ts";
import { requestBytes } from "./wire.ts";

const section = new Section();
let endpoint: Endpoint;
beforeAll(async () => {
  endpoint = await section.serve();
});
afterAll(() => section.close());

const HELLO = { query: "{hello}" };
const REFUSED = { status: 400, code: "BATCH_REFUSED" };

describe("G. Batches", () => {
  it("[graphql:G1] an empty batch is refused", async () => {
    expect(await endpoint.post([])).toMatchObject(REFUSED);
  });

  it("[graphql:G2] an entry that is not an operation has an error, and the others run", async () => {
    for (const entry of [null, 1, [HELLO], "x", {}]) {
      const answer = await endpoint.post([entry, HELLO]);
      expect([answer.status, answer.operations.length, answer.errors.length]).toEqual([200, 2, 1]);
      expect(answer.operations[0]).not.toHaveProperty("data");
      expect(answer.operations[1]?.data).toEqual({ hello: "world" });
    }
    for (const batch of [[null], [1], [[HELLO]]]) {
      expect(await endpoint.post(batch)).toMatchObject({ status: 200, operations: [{ errors: [{}] }] });
    }
  });

  it("[graphql:G3] one more than the cap is refused, and nothing runs", async () => {
    expect(await endpoint.post(repeated(10))).toMatchObject({ status: 200, errors: [] });
    expect(endpoint.ran).toEqual({ hello: 10 });

    expect(await endpoint.post(repeated(11))).toMatchObject(REFUSED);
    expect(endpoint.ran).toEqual({});
  });

  it("[graphql:G4] a batch of one is refused where batches are off", async () => {
    const single = await section.serve({ graph: { transport: { batch: 0 } } });

    expect(await single.post([HELLO])).toMatchObject(REFUSED);
    expect(single.ran).toEqual({});
    expect(await single.post(HELLO)).toMatchObject({ status: 200 });
  });

  it("[graphql:G5] the results have the order of the entries", async () => {
    const answer = await endpoint.post([HELLO, { query: "{nope}" }, { query: '{echo(s:"third")}' }]);

    expect(answer.status).toBe(200);
    expect(answer.operations.map(({ data, errors }) => data ?? errors?.[0]?.extensions.code)).toEqual([
      { hello: "world" },
      "GRAPHQL_VALIDATION_FAILED",
      { echo: '{"x":null,"s":"third","i":null,"o":null}' },
    ]);
  });

  it("[graphql:G7] a batch is sent as JSON or with files, and is rejected if batches are disabled", async () => {
    const uploads = await section.serve({ graph: { uploads: { enabled: true }, transport: { batch: 0 } } });
    const batch = JSON.stringify([HELLO]);
    const urlencoded = [["content-type", "application/x-www-form-urlencoded"]] as const;
    const multipart = form([json("operations", [HELLO]), map({})]);

    expect(await endpoint.ask({ headers: urlencoded, body: batch })).toMatchObject(REFUSED);
    expect(await endpoint.ask({ headers: urlencoded, body: `query=${encodeURIComponent(batch)}` })).toMatchObject(
      REFUSED,
    );
    expect(await endpoint.get({ query: batch })).toMatchObject(REFUSED);
    expect(await uploads.ask({ headers: [["content-type", CONTENT_TYPE]], body: multipart })).toMatchObject(REFUSED);
    expect([endpoint.ran, uploads.ran]).toEqual([{}, {}]);
  });

  it("[graphql:G8] when the client disconnects during the first entry, the second never starts, and everything is closed", async () => {
    const slow = slowSchema();
    const own = await section.serve({ schema: slow.schema });
    own.begin();
    const connection = await rawConnection(own.port);
    const body = JSON.stringify([{ query: "{slow}" }, { query: "{fast}" }]);

    connection.socket.write(requestBytes({ headers: [["content-type", "application/json"]], body }));
    await slow.started;
    connection.socket.destroy();
    await slow.aborted;
    while (slow.counts.closed < slow.counts.opened) await sleep(5);
    await sleep(50);

    expect(slow.counts).toEqual({ slow: 1, fast: 0, opened: 1, closed: 1 });
    expect(own.hooked).toHaveLength(1);
    await own.end();
  });

  it("[graphql:G9] an entry with a subscription has an error", async () => {
    const answer = await endpoint.post([
      { query: "subscription{tick}" },
      { query: "{...@defer{hello}}" },
      { query: "{list @stream{id}}" },
      HELLO,
    ]);

    expect(answer.status).toBe(200);
    expect(answer.operations.map(({ data, errors }) => data ?? errors?.[0]?.extensions.code)).toEqual([
      "SUBSCRIPTION_NEEDS_STREAM",
      "GRAPHQL_VALIDATION_FAILED",
      "GRAPHQL_VALIDATION_FAILED",
      { hello: "world" },
    ]);
    expect(endpoint.ran).toEqual({ hello: 1 });
  });

  it("[graphql:G10] each entry has its own value of a dependency, and both are closed", async () => {
    const events: string[] = [];
    let last = 0;
    const value = Depend(function* () {
      const own = ++last;
      events.push(`open ${own}`);
      try {
        yield own;
      } finally {
        events.push(`close ${own}`);
      }
    });
    const number = field(t.int, { params: { value } })(({ value }) => value);
    const own = await section.serve({ schema: schema({ query: { number } }) });

    const answer = await own.post([{ query: "{a:number b:number}" }, { query: "{number}" }]);

    expect(answer.operations.map(({ data }) => data)).toEqual([{ a: 1, b: 1 }, { number: 2 }]);
    expect(events).toEqual(["open 1", "close 1", "open 2", "close 2"]);
  });

  it("leaves memory, the event loop and the next request as they were", async () => {
    expect(await section.faults()).toEqual([]);
  });
});

const repeated = (times: number): readonly unknown[] => Array.from({ length: times }, () => HELLO);

/** A field that ends when its client leaves, and one that must not start then. */
function slowSchema(): {
  readonly schema: GraphQLSchema;
  readonly started: Promise<void>;
  readonly aborted: Promise<void>;
  readonly counts: { slow: number; fast: number; opened: number; closed: number };
} {
  const [started, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const counts = { slow: 0, fast: 0, opened: 0, closed: 0 };
  const lease = Depend(function* () {
    counts.opened++;
    try {
      yield "lease";
    } finally {
      counts.closed++;
    }
  });
  const slow = field(t.nullable(t.string), { params: { lease } })(({ ctx }) => {
    counts.slow++;
    started.resolve();
    return new Promise<string>((resolve) => {
      ctx.signal.addEventListener("abort", () => {
        aborted.resolve();
        resolve("late");
      });
    });
  });
  const fast = field(t.nullable(t.string), { params: { lease } })(() => {
    counts.fast++;
    return "fast";
  });
  return { schema: schema({ query: { slow, fast } }), started: started.promise, aborted: aborted.promise, counts };
}
