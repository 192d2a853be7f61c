import { createHash } from "node:crypto";
import { memoryStores, PorticoApp, type Stores } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Endpoint, isLongRun, Section, usedBytes } from "./harness.ts";

const section = new Section();
let stores: Stores;
let automatic: Endpoint;
beforeAll(async () => {
  stores = memoryStores();
  automatic = await section.serve({ graph: { documents: { automatic: true } }, app: { stores } });
});
afterAll(() => section.close());

const DOCUMENTS = isLongRun ? 100_000 : 5_000;

describe("J. Persisted documents and caches", () => {
  it("[graphql:J1] a hash of another document is a mismatch", async () => {
    const answer = await registered("{boom}", sha256("{hello}"));

    expect([answer.status, answer.code, automatic.ran]).toEqual([400, "PERSISTED_QUERY_MISMATCH", {}]);
    expect(await named(sha256("{hello}"))).toMatchObject({ status: 400, code: "PERSISTED_QUERY_NOT_FOUND" });
  });

  it("[graphql:J2] a hash that is not known is not found, until its document was sent with it", async () => {
    const query = '{echo(s:"J2")}';

    expect(await named(sha256(query))).toMatchObject({ status: 400, code: "PERSISTED_QUERY_NOT_FOUND" });
    expect(await registered(query)).toMatchObject({ status: 200, errors: [] });
    expect(await named(sha256(query))).toMatchObject({ status: 200, errors: [] });
    const extensions = JSON.stringify({ persistedQuery: { version: 1, sha256Hash: sha256(query) } });
    expect(await automatic.get({ extensions })).toMatchObject({ status: 200, errors: [] });
  });

  it("[graphql:J3] what is invalid or over a limit is not stored", async () => {
    const documents = ["{nope}", "{", "{list(first:100){list(first:100){id}}}", `{${"hello ".repeat(101)}}`];

    for (const query of documents) {
      expect((await registered(query)).status, query).toBe(400);
      expect(await named(sha256(query)), query).toMatchObject({ status: 400, code: "PERSISTED_QUERY_NOT_FOUND" });
    }
  });

  it(`[graphql:J4] ${DOCUMENTS} distinct documents are answered, and what is kept of them is bounded by bytes`, async () => {
    const own = await section.serve({
      graph: { transport: { batch: 100 }, limits: { characters: null } },
      app: { logger: false },
    });
    const send = async (queries: readonly string[]): Promise<void> => {
      const answers = await own.bulk(queries.map((query) => ({ query })));
      expect(answers.every(({ data, errors }) => data !== undefined && errors === undefined)).toBe(true);
    };
    const documents = (first: number): string[] =>
      Array.from({ length: 100 }, (_, i) => `{d${first + i}:hello ${"hello ".repeat(20)}}`);
    await send(documents(DOCUMENTS));
    const before = usedBytes();

    for (let first = 0; first < DOCUMENTS; first += 100) await send(documents(first));
    // By their number alone, these would all fit.
    for (let i = 0; i < 60; i++) await send([`#${i}${"x".repeat(900_000)}\n{hello}`]);

    expect((usedBytes() - before) / 1024 ** 2).toBeLessThan(40);
    await section.drop(own);
  });

  it("[graphql:J5] ids that no document can have are 400", async () => {
    const trusted = await section.serve({ graph: { documents: { trusted: { known: "{hello}" } } } });

    expect(await trusted.post({ documentId: "known" })).toMatchObject({ status: 200, data: { hello: "world" } });
    for (const documentId of ["__proto__", "constructor", "../x", "x".repeat(900_000), "a\nb", ""]) {
      expect((await trusted.post({ documentId }, [], { operations: 1 })).status, documentId.slice(0, 20)).toBe(400);
      expect((await named(documentId, 1)).status, documentId.slice(0, 20)).toBe(400);
    }
  });

  it("[graphql:J6] where only trusted documents run, any other is 403", async () => {
    const documents = { trusted: { known: "{hello}", typename: "{__typename}" }, only: true };
    const own = await section.serve({ graph: { documents }, followUp: { documentId: "typename" } });

    expect(await own.post({ documentId: "known" })).toMatchObject({ status: 200, data: { hello: "world" } });
    for (const query of ["{hello}", "{boom}", "{"]) {
      expect(await own.post({ query })).toMatchObject({ status: 403, code: "DOCUMENT_NOT_TRUSTED" });
      expect(await own.post([{ query }])).toMatchObject({ status: 200, code: "DOCUMENT_NOT_TRUSTED" });
      expect(await own.post({ query, extensions: extensionsFor(sha256(query)) })).toMatchObject({ status: 400 });
      expect(own.ran).toEqual({});
    }
  });

  it("[graphql:J7] a graph of a changed schema, in the place of the one before, validates a known document again", async () => {
    const first = await section.serve();
    const changed = schema({ query: { hullo: field(t.string)(() => "world") } });
    const app = new PorticoApp({ logger: false });
    new Graph(changed).mount(app);

    expect(await first.post({ query: "{hello}" })).toMatchObject({ status: 200, data: { hello: "world" } });
    const answer = await testClient(app).post("/graphql", { body: { query: "{hello}" } });

    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ errors: [{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] });
  });

  it("a document of HTML is answered as JSON that is not sniffed, the IDE being off", async () => {
    const answer = await automatic.get({ query: "</script>" }, [["accept", "text/html"]]);

    expect(answer).toMatchObject({ status: 400, code: "GRAPHQL_PARSE_FAILED" });
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  });

  it("leaves memory, the event loop and the next request as they were", async () => {
    expect(await section.faults()).toEqual([]);
  });
});

function sha256(query: string): string {
  return createHash("sha256").update(query).digest("hex");
}

const extensionsFor = (sha256Hash: string): object => ({ persistedQuery: { version: 1, sha256Hash } });

const registered = (query: string, hash: string = sha256(query)): Promise<Answer> =>
  automatic.post({ query, extensions: extensionsFor(hash) });

const named = (hash: string, operations?: number): Promise<Answer> =>
  automatic.post({ extensions: extensionsFor(hash) }, [], operations === undefined ? {} : { operations });
