import { createHash } from "node:crypto";
import { memoryStores } from "portico";
import type { DocumentsOptions } from "portico/graphql";
import { describe, expect, it, vi } from "vitest";
import { bodyOf, open, verdictOf } from "./open.ts";

const HELLO = "{ hello }";
const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const persisted = (hash: string) => ({ persistedQuery: { version: 1, sha256Hash: hash } });

describe("trusted documents", () => {
  const manifest = { hello: HELLO, [hashOf("{ a { id } }")]: "{ a { id } }" };

  it.each<[string, DocumentsOptions]>([
    ["a manifest", { trusted: manifest }],
    ["a store", { trusted: { get: async (id) => new Map(Object.entries(manifest)).get(id) } }],
  ])("of %s run by their id, whether they are the only ones or not", async (_title, documents) => {
    for (const only of [false, true]) {
      const { client } = await open({ documents: { ...documents, only } });

      const answers = [
        await client.post("/graphql", { body: { documentId: "hello" } }),
        await client.get("/graphql", { query: { documentId: "hello" } }),
        await client.post("/graphql", { body: { extensions: persisted(hashOf("{ a { id } }")) } }),
      ];

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(answers.map((answer) => bodyOf(answer).data)).toEqual([
        { hello: "world" },
        { hello: "world" },
        { a: { id: "a" } },
      ]);
    }
  });

  it("block other documents when only they are allowed, also next to a trusted id", async () => {
    const { client, ran } = await open({ documents: { trusted: manifest, only: true } });

    const answers = [
      await client.post("/graphql", { body: { query: HELLO } }),
      await client.post("/graphql", { body: { query: HELLO, documentId: "nope" } }),
      await client.post("/graphql", { body: { documentId: "constructor" } }),
      await client.post("/graphql", { body: { documentId: "no good id" } }),
    ];

    expect(answers.map(verdictOf)).toEqual([
      [403, "DOCUMENT_NOT_TRUSTED"],
      [400, "PERSISTED_QUERY_NOT_FOUND"],
      [400, "PERSISTED_QUERY_NOT_FOUND"],
      [400, "BAD_REQUEST"],
    ]);
    expect(ran).toEqual({});
  });

  it("are subject to the limits like any other", async () => {
    const { client } = await open({ documents: { trusted: manifest }, limits: { cost: 0 } });

    expect(verdictOf(await client.post("/graphql", { body: { documentId: "hello" } }))).toEqual([
      400,
      "COST_LIMIT_EXCEEDED",
    ]);
  });
});

describe("automatic persisted queries", () => {
  it("are registered once with their hash, then sent by it alone, by GET too", async () => {
    const stores = memoryStores();
    const { client } = await open({ documents: { automatic: true } }, { stores });
    const extensions = persisted(hashOf(HELLO));

    const unknown = await client.post("/graphql", { body: { extensions } });
    const registered = await client.post("/graphql", { body: { query: HELLO, extensions } });
    const known = await client.get("/graphql", { query: { extensions: JSON.stringify(extensions) } });

    expect([unknown, registered, known].map(verdictOf)).toEqual([[400, "PERSISTED_QUERY_NOT_FOUND"], [200], [200]]);
    expect(bodyOf(known).data).toEqual({ hello: "world" });
    // The word that urql waits for; Apollo's link goes by the code.
    expect(bodyOf(unknown).errors).toMatchObject([{ message: "PersistedQueryNotFound" }]);
  });

  it("are stored at most 120 times a minute per address: further ones run, but do not fill the store", async () => {
    const stores = memoryStores();
    const { client } = await open({ documents: { automatic: true } }, { stores });
    const documents = Array.from({ length: 130 }, (_, n) => `{ hello } #${n}`);

    const ran = [];
    for (const query of documents)
      ran.push((await client.post("/graphql", { body: { query, extensions: persisted(hashOf(query)) } })).status);
    const known = async (query = "") =>
      (await client.post("/graphql", { body: { extensions: persisted(hashOf(query)) } })).status;

    expect(new Set(ran)).toEqual(new Set([200]));
    expect([await known(documents[119]), await known(documents[120])]).toEqual([200, 400]);
  });

  it("are not registered under a hash that is not theirs", async () => {
    const { client } = await open({ documents: { automatic: true } });

    const answer = await client.post("/graphql", { body: { query: HELLO, extensions: persisted(hashOf("other")) } });

    expect(verdictOf(answer)).toEqual([400, "PERSISTED_QUERY_MISMATCH"]);
  });

  it("are stored only when they are valid and within the limits", async () => {
    const stores = memoryStores();
    const write = vi.spyOn(stores.durable, "compareAndSet");
    const { client } = await open(
      { documents: { automatic: true, keepSeconds: 60 }, limits: { aliases: 1 } },
      { stores },
    );
    const register = (query: string) =>
      client.post("/graphql", { body: { query, extensions: persisted(hashOf(query)) } });

    const refused = [await register("{ nope }"), await register("{ hello"), await register("{ x: hello y: hello }")];
    const long = await register(`{ hello } ${"#".repeat(20_000)}`);
    expect([refused.map(({ status }) => status), long.status]).toEqual([[400, 400, 400], 200]);
    expect(write).not.toHaveBeenCalled();

    await register(HELLO);
    expect(write.mock.calls).toEqual([
      [expect.stringMatching(/^apq:\d+$/), null, expect.stringContaining(HELLO), 60_000],
    ]);
  });

  it("are off by default: a document with a hash runs, a hash alone does not", async () => {
    const { client } = await open();
    const extensions = persisted(hashOf(HELLO));

    const answers = [
      await client.post("/graphql", { body: { query: HELLO, extensions } }),
      await client.post("/graphql", { body: { extensions } }),
    ];

    expect(answers.map(verdictOf)).toEqual([[200], [400, "PERSISTED_QUERY_NOT_FOUND"]]);
  });
});
