import { connect } from "node:net";
import { type LiveClient, liveClient, logCatcher } from "portico/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RecordingStore } from "../sessions/recording-store.ts";
import { ALPHABET, checksum } from "./checksum.ts";
import { by, keyApp, make } from "./key-app.ts";

describe("an invalid API key", () => {
  let store: RecordingStore;
  let client: LiveClient;
  let good: string;
  beforeEach(async () => {
    store = new RecordingStore();
    client = await liveClient(keyApp({ durable: store }));
    good = (await make(client)).key;
    await client.get("/me", by(good));
    store.take();
  });
  afterEach(() => client.close());

  it("[auth:AU-151] with any character changed is rejected without a lookup", async () => {
    const changed = Array.from(good, (character, index) => {
      const other = character === "_" ? "-" : (ALPHABET[(ALPHABET.indexOf(character) + 1) % 62] as string);
      return good.slice(0, index) + other + good.slice(index + 1);
    });

    const answers = await Promise.all(changed.map((key) => client.get("/me", by(key))));

    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(store.take()).toEqual([]);
    expect((await client.get("/me", by(good))).status).toBe(200);
  });

  it("[auth:AU-152] with the right id and a wrong secret gets the response and the log line of an unknown id", async () => {
    const logs = logCatcher();
    const logged = await liveClient(keyApp({ durable: store, logger: logs }));
    const body = good.slice(0, -6);
    const wrongSecret = body.slice(0, 16) + (body.endsWith("a") ? "b" : "a").repeat(43);
    const unknownId = `pk_${"0".repeat(12)}${body.slice(15)}`;

    const answers = [];
    for (const text of [wrongSecret, unknownId]) {
      const answer = await logged.get("/me", by(text + checksum(text)));
      const { correlation_id: _, ...rest } = answer.json() as { correlation_id: string };
      answers.push([answer.status, rest, answer.headers["www-authenticate"], store.take()]);
    }
    const reasons = logs.lines.filter(
      ({ msg, scope }) => msg === "an authentication backend declined" && scope === "apikey",
    );

    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.[0]).toBe(401);
    expect(reasons.map(({ reason }) => reason)).toEqual(["the API key is not valid", "the API key is not valid"]);
    for (const secret of [good, wrongSecret, unknownId]) expect(logs.text).not.toContain(secret.slice(16));
    await logged.close();
  });

  it("[auth:AU-157] in the query, a cookie, the body or as a bearer token is ignored", async () => {
    const answers = await Promise.all([
      client.get("/me", { query: { api_key: good, "x-api-key": good, "X-API-Key": good } }),
      client.get("/me", { headers: { cookie: `x-api-key=${good}; X-API-Key=${good}; api_key=${good}` } }),
      client.get("/me", { headers: { authorization: `Bearer ${good}` } }),
      client.post("/keys", { body: { "x-api-key": good } }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
    expect(store.take()).toEqual([]);
  });

  it("[auth:AU-047] in two headers is rejected, even if they are equal", async () => {
    const other = (await make(client)).key;
    store.take();

    const answers = [
      await raw(client.port, [`X-API-Key: ${good}`, `X-API-Key: ${other}`]),
      await raw(client.port, [`X-API-Key: ${good}`, `x-api-key: ${good}`]),
      await raw(client.port, [`X-API-Key: ${good}, ${good}`]),
    ];
    const one = await raw(client.port, [`X-API-Key: ${good}`]);

    expect(answers.map((answer) => answer.slice(0, 12))).toEqual(["HTTP/1.1 401", "HTTP/1.1 401", "HTTP/1.1 401"]);
    expect(one).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("in a repeated header is rejected, also if Node keeps only the first value", async () => {
    const custom = await liveClient(keyApp({ header: "From" }));
    const { key } = await make(custom);
    const answers = [
      await raw(custom.port, [`From: ${key}`]),
      await raw(custom.port, [`From: ${key}`, "From: x"]),
      await raw(custom.port, [`From: ${key}`, `From: ${key}`]),
    ];
    await custom.close();

    expect(answers.map((answer) => answer.slice(0, 12))).toEqual(["HTTP/1.1 200", "HTTP/1.1 401", "HTTP/1.1 401"]);
  });

  it.each(["", " ", "pk_", "pk__", "null", "x".repeat(10_000), "__proto__", "pk_../../etc/passwd_x", "*"])(
    "is rejected without a lookup: %j",
    async (text) => {
      expect((await client.get("/me", by(text))).status).toBe(401);
      expect((await client.get("/open", by(text))).json()).toEqual({ who: "", auth: null });
      expect(store.take()).toEqual([]);
    },
  );

  it("is rejected if its record is not valid", async () => {
    const [recordKey] = [...store.entries.keys()].filter((key) => key.startsWith("apikey:"));
    const record = JSON.parse(store.entries.get(recordKey as string) as string) as object;
    const damaged = [
      "",
      "null",
      "[]",
      "{",
      '{"user":"ann"}',
      JSON.stringify({ ...record, permissions: "all" }),
      JSON.stringify({ ...record, hash: 7 }),
      JSON.stringify({ ...record, hash: "" }),
      JSON.stringify({ ...record, isPending: true }),
      JSON.stringify({ ...record, previous: {} }),
    ];

    for (const text of damaged) {
      await store.set(recordKey as string, text);
      expect((await client.get("/me", by(good))).status, text).toBe(401);
    }
  });
});

/** The response to a raw request. */
function raw(port: number, headers: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(`GET /me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers.join("\r\n")}\r\n\r\n`);
    });
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString();
    });
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
  });
}
