import { GraphQLError, print } from "graphql";
import { PorticoApp } from "portico";
import { type FormattedError, field, Graph, type ObjectType, object, schema, subscription, t } from "portico/graphql";
import { testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { threadCpuMs } from "../../thread-cpu-ms.ts";
import { openGraph, wsClient } from "../subscriptions/open.ts";

const items = Array.from({ length: 100 }, (_, at) => ({ id: String(at) }));
const Item: ObjectType<{ readonly id: string }> = object("Item", {
  id: t.id,
  secret: field(t.nullable(t.string), { auth: true })(() => "secret"),
});
const refuse = field(t.nullable(t.string))(({ info }) => {
  throw new GraphQLError("no", { nodes: info.fieldNodes });
});
const types = schema({
  query: {
    all: field(t.list(Item), { listSize: 100 })(() => items),
    refuse,
    echo: field(t.int, { params: { n: t.int } })(({ n }) => n),
    text: field(t.string)(({ info }) =>
      info.fieldNodes.map((node) => `${print(node)}|${node.loc?.source.body}`).join(),
    ),
  },
  subscription: {
    ticks: subscription(t.nullable(Item))(async function* () {
      yield items[0];
    }),
  },
});

const MAX = 65_536;
/** It takes a few milliseconds, and seconds if each error counts the line breaks before it. */
const MAX_MS = 60;
const ROUNDS = 4;
/** With line breaks of all three kinds in front, so long that it just fits. */
const padded = (document: string, most = MAX): string => {
  const breaks = "\n\r\r\n\n".repeat(Math.floor((most - document.length) / 5));
  return document.replace("{", () => `{${breaks}`);
};
const lines = (document: string): number => document.split(/\r\n|\r|\n/).length;
const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(" ");

describe("a document that is mostly line breaks", () => {
  it.each([
    ["a syntax error", "{ all { id }", 1],
    ["a validation error", "{\n  nope }", 10],
    ["an error of two nodes", "query ($a: Int, $a: Int) { all { id } }", 10],
    ["a coercion error", "query ($n: Int!) {\n echo(n: $n) }", 10],
    ["a gate", "{\n  all { secret } }", 10],
    ["an error that names nodes itself", "{\n\n   refuse }", 10],
  ])("reports the exact location of %s, as graphql would", async (_name, document) => {
    for (const most of [document.length, document.length + 50, MAX]) {
      const source = padded(document, most);

      const [error] = await errorsOf(source);

      expect(error?.locations?.length).toBeGreaterThan(0);
      for (const { line, column } of error?.locations ?? []) {
        const at = source.split(/\r\n|\r|\n/)[line - 1]?.slice(column - 1) ?? "";
        expect(at, `${line}:${column}`).toMatch(/^(?:nope|a:|\$n|secret|refuse|$)/);
      }
    }
  });

  it("reports locations over a socket and in a stream of events", async () => {
    const query = padded("subscription {\n ticks { secret } }");
    const { client, url } = await openGraph(types);
    const expected = [{ line: lines(query), column: 10 }];

    const socket = await wsClient(url).iterate({ query }).next();
    const stream = await client.post("/graphql", { body: { query }, headers: { accept: "text/event-stream" } });
    const batch = await client.post("/graphql", { body: [{ query: padded("{\n all { secret } }") }] });

    expect((socket.value as { errors: FormattedError[] }).errors[0]?.locations).toEqual(expected);
    expect(JSON.parse(/data: (\{.*\})/.exec(stream.text())?.[1] ?? "")).toMatchObject({
      errors: [{ locations: expected }],
    });
    expect(batch.json()).toMatchObject([
      { errors: [{ locations: [{ column: 8 }] }, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}] },
    ]);
  });

  it("does not change the text of an ordinary document for resolvers", async () => {
    const query = `${"\n".repeat(90)}{ text }`;

    expect(await ask(query)).toMatchObject({ data: { text: `text|${query}` } });
    expect(await ask(padded(query))).toMatchObject({ data: { text: "text|" } });
  });

  it.each([
    ["25 unknown fields", `{ ${Array.from({ length: 25 }, (_, at) => `x${at}`).join(" ")} }`],
    ["a syntax error", "{ all { id }"],
    ["a list of 100 with a gated field", "{ all { secret } }"],
    ["30 aliases of that list", `{ ${aliases(30, "all { secret }")} }`],
  ])("costs about as much as without them: %s", async (_name, document) => {
    const [bare, full] = await cpuOf([document, padded(document)]);

    expect(full - bare).toBeLessThan(MAX_MS);
  });
});

function appOf(): ReturnType<typeof testClient> {
  const app = new PorticoApp({ logger: false });
  new Graph(types).mount(app);
  onTestFinished(() => app.close());
  return testClient(app);
}

async function ask(query: string): Promise<unknown> {
  return (await appOf().post("/graphql", { body: { query } })).json();
}

async function errorsOf(query: string): Promise<readonly FormattedError[]> {
  return ((await ask(query)) as { errors: readonly FormattedError[] }).errors;
}

/** Milliseconds of CPU that each document takes on this thread, the best of several: a collection may add to one. */
async function cpuOf<const T extends readonly string[]>(documents: T): Promise<{ [K in keyof T]: number }> {
  const client = appOf();
  const best = documents.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, query] of documents.entries()) {
      const before = threadCpuMs();
      await client.post("/graphql", { body: { query } });
      best[at] = Math.min(best[at] ?? 0, threadCpuMs() - before);
    }
  }
  return best as { [K in keyof T]: number };
}
