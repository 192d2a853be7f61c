import { createHash } from "node:crypto";
import { Metrics, memoryStores, PorticoApp, prometheus, rateLimit } from "portico";
import { useAuth } from "portico/auth";
import { field, Graph, type ObjectType, OperationLog, object, schema, subscription, t } from "portico/graphql";
import { type LiveClient, type LogCatcher, liveClient, logCatcher } from "portico/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { UNSHED } from "../graphql/hooks/timed.ts";
import { rawSocket } from "../graphql/subscriptions/open.ts";
import { CONTENT_TYPE, file, form, json, map } from "../graphql/uploads/multipart-form.ts";

// Everything that is written because of a request has a bound, and each test here reaches it: as much as a client may send
// goes in, and what comes out is exactly as much as may. How many such places there are is counted at the end.

const MARK = "mark";
/** As much of one text as Node takes in the headers of a request. */
const long = MARK.repeat(3_000);
const items = Array.from({ length: 100 }, (_, at) => ({ id: String(at) }));
const Item: ObjectType<{ readonly id: string }> = object("Item", {
  id: t.id,
  secret: field(t.nullable(t.string), { auth: true })(() => "secret"),
});
const types = schema({
  query: {
    all: field(t.list(Item))(() => items),
    sum: field(t.int, { params: { of: t.list(t.int) } })(({ of }) => of.length),
    echo: field(t.nullable(t.string), { params: { text: t.string } })(({ text }) => {
      throw new Error(text);
    }),
    file: field(t.nullable(t.string), { params: { file: t.nullable(t.upload) } })(() => "taken"),
  },
  subscription: {
    all: subscription(t.list(Item))(async function* () {
      yield items;
    }),
  },
});

const metrics = new Metrics();
const series = prometheus();
const stores = memoryStores();
const counted: string[] = [];
const kept: [key: string, value: string][] = [];
let log: LogCatcher;
let client: LiveClient;

beforeAll(async () => {
  log = logCatcher();
  const { durable, counters } = stores;
  const [replace, increment] = [durable.compareAndSet.bind(durable), counters.increment.bind(counters)];
  durable.compareAndSet = (key, before, value, ttlMs) => {
    if (value !== null) kept.push([key, value]);
    return replace(key, before, value, ttlMs);
  };
  counters.increment = (key, windowMs) => {
    counted.push(key);
    return increment(key, windowMs);
  };
  const app = new PorticoApp({ logger: log, stores, ...UNSHED });
  new Graph(types, { limits: { cost: null }, uploads: { enabled: true }, documents: { automatic: true } })
    .onOperation(metrics)
    .onOperation(series)
    .onOperation(new OperationLog())
    .mount(app);
  app.get("/broken/:name", ({ request }) => {
    throw new Error(request.headers["x-text"]);
  });
  app.get("/guarded", { auth: useAuth() }, () => "in");
  app.post("/numbers", { body: z.record(z.string(), z.array(z.number())) }, () => "taken");
  app.socket("/socket", () => {});
  const byName = rateLimit({ perMinute: 1_000, key: (ctx) => ctx.request.headers["x-name"] ?? "" });
  app.get("/limited", { middleware: [byName] }, () => "counted");
  client = await liveClient(app);
});
afterAll(() => client.close());
beforeEach(() => log.clear());

const query = (text: string, more: object = {}) => client.post("/graphql", { body: { query: text, ...more } });
const aliased = (count: number): string =>
  `{ ${Array.from({ length: count }, (_, at) => `a${at}: all { secret }`).join(" ")} }`;
const lengths = (name: string): readonly number[] =>
  log.lines.filter((line) => name in line).map((line) => String(line[name]).length);
const errorLines = () => log.lines.filter((line) => "correlation_id" in line);
const messages = (answer: { json(): unknown }): readonly number[] =>
  (answer.json() as { errors: { message: string }[] }).errors.map(({ message }) => message.length);

/** One for each place that something is written to: what is sent, and what is seen of it. */
const PLACES: readonly [place: string, write: () => Promise<unknown>, bound: unknown][] = [
  [
    "the path in a log line",
    async () => {
      await client.get(`/broken/${MARK.repeat(2_000)}`);
      return lengths("path");
    },
    [300],
  ],
  [
    "the sentence of a log line, and the error in it",
    async () => {
      await client.get("/broken/x", { headers: { "x-text": long } });
      const { msg, err } = errorLines()[0] as unknown as { msg: string; err: { message: string } };
      return [msg.length, err.message.length];
    },
    [300, 1_000],
  ],
  [
    "the id of a request in a log line: as it came",
    async () => {
      await client.get("/broken/x", { headers: { "x-request-id": long.slice(0, 128) } });
      return lengths("request_id");
    },
    [128],
  ],
  [
    "the id of a request in a log line: replaced",
    async () => {
      await client.get("/broken/x", { headers: { "x-request-id": long.slice(0, 129) } });
      await client.get("/broken/x", { headers: { traceparent: long } });
      return lengths("request_id");
    },
    [16, 16],
  ],
  [
    "the log lines of an operation",
    async () => {
      await query(aliased(30));
      return errorLines().length;
    },
    11,
  ],
  [
    "the log lines of a batch",
    async () => {
      await client.post("/graphql", { body: Array.from({ length: 10 }, () => ({ query: aliased(30) })) });
      return errorLines().length;
    },
    110,
  ],
  [
    "the log lines of an event in a stream",
    async () => {
      const body = { query: "subscription { all { secret } }" };
      await client.post("/graphql", { body, headers: { accept: "text/event-stream" } });
      return errorLines().length;
    },
    11,
  ],
  [
    "the log lines and the errors of an event on a socket",
    async () => {
      const socket = await rawSocket(client, { init: true });
      socket.say({ id: "1", type: "subscribe", payload: { query: "subscription { all { secret } }" } });
      const { payload } = await socket.hear();
      return [errorLines().length, payload.errors.length];
    },
    [11, 11],
  ],
  [
    "the field of a log line",
    async () => {
      // The longest aliases that are taken.
      await query(`{ ${MARK.repeat(64)}: all { ${MARK.repeat(64)}: secret } }`);
      return lengths("field");
    },
    Array<number>(10).fill(300),
  ],
  [
    "the name of an operation in the log of operations",
    async () => {
      await query(`query ${MARK.repeat(10_000)} { nope }`);
      return lengths("operation");
    },
    [203],
  ],
  ["the errors of an operation", async () => messages(await query(aliased(30))).length, 11],
  [
    "the errors of a document, and what each repeats of it",
    async () => messages(await query(`{ ${Array.from({ length: 40 }, (_, at) => MARK.repeat(300) + at).join(" ")} }`)),
    [...Array<number>(10).fill(1_000), expect.toSatisfy((length: number) => length < 100)],
  ],
  [
    "the errors of variables, and what each repeats of them",
    async () =>
      messages(
        await query("query ($of: [Int!]!) { sum(of: $of) }", {
          variables: { of: Array.from({ length: 100 }, () => MARK.repeat(2_000)) },
        }),
      ),
    [...Array<number>(10).fill(1_000), expect.toSatisfy((length: number) => length < 100)],
  ],
  [
    "the issues of a body, and what each repeats of it",
    async () => {
      const answer = await client.post("/numbers", { body: { [MARK.repeat(2_000)]: Array(10_000).fill("x") } });
      const { errors } = answer.json() as { errors: { path: string[]; message: string }[] };
      return [errors.length, errors[0]?.path[0]?.length, errors.at(-1)?.message];
    },
    [101, 200, "9900 more issues are not listed"],
  ],
  [
    "a type that is not taken, in a problem",
    async () => {
      const answer = await client.post("/numbers", { body: "x", headers: { "content-type": `text/${long}` } });
      return [answer.status, (answer.json() as { detail: string }).detail.length];
    },
    [415, expect.toSatisfy((length: number) => length > 100 && length < 200)],
  ],
  [
    "an origin that is not allowed, in a problem",
    async () => {
      const headers = { origin: `https://${long}.example`, connection: "Upgrade", upgrade: "websocket" };
      const refused = await client.get("/socket", {
        headers: { ...headers, "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" },
      });
      return [refused.status, refused.text().length < 300];
    },
    [403, true],
  ],
  [
    "a path of an upload, in an error",
    async () => {
      const parts = [json("operations", { query: "{ file }" }), map({ 0: [`variables.${long}`] }), file("0", "x")];
      const answer = await client.post("/graphql", { headers: { "content-type": CONTENT_TYPE }, body: form(parts) });
      return messages(answer);
    },
    [expect.toSatisfy((length: number) => length < 150)],
  ],
  [
    "a parameter that was sent more than once, in an error",
    async () => messages(await client.get(`/graphql?${MARK.repeat(1_000)}=1&${MARK.repeat(1_000)}=2`)),
    [80],
  ],
  [
    "the rows of Metrics",
    async () => {
      for (let first = 0; first < 1_100; first += 10)
        await client.post("/graphql", {
          body: Array.from({ length: 10 }, (_, at) => ({ query: `query N${first + at} { all { id } }` })),
        });
      await query(`query ${MARK.repeat(10_000)} { all { id } }`);
      await query("{ nope }");
      const names = Object.keys(metrics.snapshot());
      return [names.length, Math.max(...names.map(({ length }) => length))];
    },
    [1_003, "<anonymous>".length],
  ],
  ["the series of Prometheus", async () => new Set(series.text().match(/operation="[^"]*"/g)).size, 103],
  [
    "the keys of a rate limit",
    async () => {
      for (const name of ["short", long, `${long}r`]) await client.get("/limited", { headers: { "x-name": name } });
      return counted.slice(-3).map(({ length }) => length);
    },
    [expect.toSatisfy((length: number) => length < 40), 48, 48],
  ],
  [
    "the documents that clients register: in length",
    async () => {
      for (const length of [16_384, 16_385]) {
        const document = `{ all { id } }${" ".repeat(length - 14)}`;
        const sha256Hash = createHash("sha256").update(document).digest("hex");
        await query(document, { extensions: { persistedQuery: { version: 1, sha256Hash } } });
      }
      return kept.map(([key, value]) => [key.length, JSON.parse(value)[0].source.length]);
    },
    [[7, 16_384]],
  ],
  [
    "the documents that clients register: in number",
    async () => {
      for (let at = 0; at < 130; at++) {
        const document = `{ n${at}: sum(of: []) }`;
        const sha256Hash = createHash("sha256").update(document).digest("hex");
        await query(document, { extensions: { persistedQuery: { version: 1, sha256Hash } } });
      }
      return kept.length;
    },
    120,
  ],
  [
    "what a pong repeats of its ping",
    async () => {
      const socket = await rawSocket(client, { init: true });
      const pong = async (text: string): Promise<unknown> => {
        socket.say({ type: "ping", payload: { text } });
        return (await socket.hear()).payload?.text.length;
      };
      const most = 1_024 - JSON.stringify({ type: "ping", payload: { text: "" } }).length;
      return [await pong("x".repeat(most)), await pong("x".repeat(most + 1))];
    },
    [987, undefined],
  ],
  [
    "the id of an operation on a socket",
    async () => {
      const socket = await rawSocket(client, { init: true });
      socket.say({ id: "x".repeat(256), type: "subscribe", payload: { query: "subscription { nope }" } });
      const { id } = await socket.hear();
      socket.say({ id: "x".repeat(257), type: "subscribe", payload: { query: "subscription { nope }" } });
      const { code, reason } = await socket.closed;
      return [id?.length, code, Buffer.byteLength(reason) <= 123];
    },
    [256, 4400, true],
  ],
];

describe("what is written because of a request", () => {
  it.each(PLACES)("%s", async (_place, write, bound) => {
    expect(await write()).toEqual(bound);
  });

  it("has no header of the request in those of the response", async () => {
    const names =
      "accept accept-encoding accept-language access-control-request-headers access-control-request-method authorization cookie forwarded from if-match if-modified-since if-none-match origin prefer range referer user-agent via x-api-key x-forwarded-for x-forwarded-host x-forwarded-proto x-request-id traceparent tracestate".split(
        " ",
      );

    for (const path of ["/guarded", "/nothing", "/broken/x", "/graphql?query={all{id}}", "/limited"])
      for (const name of names) {
        const answer = await client.get(path, { headers: { [name]: long } });
        expect(JSON.stringify(answer.headers), `${name} to ${path}`).not.toContain(MARK);
        expect(answer.text().split(MARK).length, `${name} to ${path}`).toBeLessThan(30);
      }
  });

  it(`is seen at ${PLACES.length + 1} places`, () => {
    expect(PLACES.length + 1).toBe(26);
  });
});
