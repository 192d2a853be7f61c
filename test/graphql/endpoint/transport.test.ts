import { ConfigurationError } from "portico";
import { Transport } from "portico/graphql";
import { describe, expect, it } from "vitest";
import { flood, rawConnection } from "../../http/raw-connection.ts";
import { bodyOf, bodyOfSize, codesOf, GRAPHQL_TYPE, JSON_BODY, open } from "./open.ts";

const asksForGraphql = { headers: { accept: GRAPHQL_TYPE }, body: { query: "{ hello }" } };

describe("getQueries", () => {
  it("[TRN-01] [TRN-09] false rejects every GET query with 405 and Allow: POST, and runs nothing", async () => {
    const { client, ran } = await open({ transport: new Transport({ getQueries: false }) });

    const refused = await client.get("/graphql", { query: { query: "{ hello }" } });
    const posted = await client.post("/graphql", { body: { query: "{ hello }" } });

    expect([refused.status, refused.headers["allow"]]).toEqual([405, "POST"]);
    expect(codesOf(refused)).toEqual(["METHOD_NOT_ALLOWED"]);
    expect([posted.status, ran]).toEqual([200, { hello: 1 }]);
  });
});

describe("batch", () => {
  it("[TRN-02] allows that many operations, and rejects one more", async () => {
    const { client, ran } = await open({ transport: new Transport({ batch: 3 }) });
    const operations = (count: number) => Array.from({ length: count }, () => ({ query: "{ hello }" }));

    const fits = await client.post("/graphql", { body: operations(3) });
    const over = await client.post("/graphql", { body: operations(4) });

    expect(fits.json()).toHaveLength(3);
    expect([over.status, ran]).toEqual([400, { hello: 3 }]);
  });

  it("[TRN-03] 0 rejects a batch of one, but runs the same operation by itself", async () => {
    const { client, ran } = await open({ transport: new Transport({ batch: 0 }) });

    const batch = await client.post("/graphql", { body: [{ query: "{ hello }" }] });
    const single = await client.post("/graphql", { body: { query: "{ hello }" } });

    expect([batch.status, codesOf(batch)]).toEqual([400, ["BATCH_REFUSED"]]);
    expect([single.status, ran]).toEqual([200, { hello: 1 }]);
  });
});

describe("graphqlContentType", () => {
  it("[TRN-04] [TRN-11] true negotiates the GraphQL media type, and uses it for the response", async () => {
    const { client } = await open({
      transport: new Transport({ graphqlContentType: true, responseContentType: true }),
    });

    const answer = await client.post("/graphql", asksForGraphql);

    expect(answer.headers["content-type"]).toBe("application/graphql-response+json; charset=utf-8");
  });

  it("[TRN-10] false returns application/json, whatever Accept says", async () => {
    const { client } = await open({ transport: new Transport({ graphqlContentType: false }) });

    const answers = [
      await client.post("/graphql", asksForGraphql),
      await client.post("/graphql", { ...asksForGraphql, body: {} }),
    ];

    expect(answers.map(({ status, headers }) => [status, headers["content-type"]])).toEqual([
      [200, "application/json; charset=utf-8"],
      [400, "application/json; charset=utf-8"],
    ]);
  });
});

describe("responseContentType", () => {
  it("[TRN-05] [TRN-12] false changes the label to application/json and nothing else", async () => {
    const labelled = await open({ transport: { responseContentType: true } });
    const plain = await open({ transport: { responseContentType: false } });

    const [first, second] = [
      await labelled.client.post("/graphql", asksForGraphql),
      await plain.client.post("/graphql", asksForGraphql),
    ];

    expect(first.headers["content-type"]).toBe("application/graphql-response+json; charset=utf-8");
    expect(second.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect([second.status, second.text()]).toEqual([first.status, first.text()]);
    expect(second.headers["vary"]).toBe(first.headers["vary"]);
  });

  it("does not change what is acceptable", async () => {
    const { client } = await open({ transport: { responseContentType: false } });

    const answer = await client.post("/graphql", { headers: { accept: "image/png" }, body: { query: "{ hello }" } });

    expect(answer.status).toBe(406);
  });
});

describe("maxBody", () => {
  it.each([
    ["512b", 512],
    ["2kb", 2048],
  ] as const)("[TRN-06] %s limits the body: that many bytes are accepted, one more is not", async (maxBody, bytes) => {
    const { client, ran } = await open({ transport: new Transport({ maxBody }) });

    const fits = await client.post("/graphql", { headers: JSON_BODY, body: bodyOfSize(bytes) });
    const over = await client.post("/graphql", { headers: JSON_BODY, body: bodyOfSize(bytes + 1) });

    expect([fits.status, over.status, ran]).toEqual([200, 413, { hello: 1 }]);
    expect([bodyOf(over).data, codesOf(over)]).toEqual([undefined, ["PAYLOAD_TOO_LARGE"]]);
  });

  it("[TRN-07] is applied before the body is parsed: a large body is rejected for its size, JSON or not", async () => {
    const { client } = await open({ transport: new Transport({ maxBody: "1kb" }) });

    const answer = await client.post("/graphql", { headers: JSON_BODY, body: "{oops".repeat(1000) });

    expect([answer.status, codesOf(answer)]).toEqual([413, ["PAYLOAD_TOO_LARGE"]]);
  });

  it("[TRN-07] rejects an endless body without reading on", async () => {
    const { client } = await open({ transport: new Transport({ maxBody: "64kb" }) });
    const connection = await rawConnection(client.port);
    connection.socket.write(
      "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n",
    );
    const chunk = Buffer.concat([Buffer.from("4000\r\n"), Buffer.alloc(0x4000, 0x20), Buffer.from("\r\n")]);

    const sent = await flood(connection, chunk, 20_000);

    expect(await connection.until("PAYLOAD_TOO_LARGE")).toMatch(/^HTTP\/1\.1 413 /);
    // The operating system buffers some bytes, but not the 320 MB that were offered.
    expect(sent).toBeLessThan(20 * 1024 ** 2);
  });

  it.each(["lots", "-1mb", "", "1 mb!", -1, 1.5, Number.NaN, null])(
    "[TRN-08] rejects %j when the Transport is constructed",
    (maxBody) => {
      expect(() => new Transport({ maxBody: maxBody as never })).toThrow(ConfigurationError);
      expect(() => new Transport({ maxBody: maxBody as never })).toThrow("Transport.maxBody");
    },
  );

  it.each(["1kb", 1024] as const)("[TRN-13] %j is 1024 bytes", async (maxBody) => {
    const { client } = await open({ transport: new Transport({ maxBody }) });

    const fits = await client.post("/graphql", { headers: JSON_BODY, body: bodyOfSize(1024) });
    const over = await client.post("/graphql", { headers: JSON_BODY, body: bodyOfSize(1025) });

    expect([fits.status, over.status]).toEqual([200, 413]);
  });
});
