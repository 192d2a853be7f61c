import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { type TestClient, type TestResponse, testClient } from "portico/testing";
import { beforeAll, describe, expect, it } from "vitest";

const GRAPHQL_TYPE = "application/graphql-response+json";

let client: TestClient;
beforeAll(() => {
  const app = new PorticoApp({ logger: false });
  new Graph(schema({ query: { ok: field(t.boolean)(() => true) } }), { ide: true }).mount(app);
  client = testClient(app);
});

let sent = 0;
/** The header with another range at its end, because the ranges of the last header stay in memory. */
const anew = (accept: string): string => `${accept}, x/${++sent}`;

describe("Accept", () => {
  const typeFor = async (accept: string): Promise<string> => {
    const { status, headers } = await client.post("/graphql", {
      headers: { accept: anew(accept) },
      body: { query: "{ ok }" },
    });
    return status === 200 ? String(headers["content-type"]).replace(/;.*/, "") : String(status);
  };

  it.each([
    [`application/json;q=0.5, ${GRAPHQL_TYPE};q=0.9`, GRAPHQL_TYPE],
    [`application/json; q = 0.9 , ${GRAPHQL_TYPE}; q = 0.5 `, "application/json"],
    [`application/json;Q=0.5,${GRAPHQL_TYPE.toUpperCase()};Q=0.9`, GRAPHQL_TYPE],
    [`application/json;charset=utf-8;q=0.5, ${GRAPHQL_TYPE};q=0.9`, GRAPHQL_TYPE],
    [`application/json;q=0.5;charset=utf-8, ${GRAPHQL_TYPE};q=0.9`, GRAPHQL_TYPE],
  ])("is read with its q-values: %s", async (accept, type) => {
    expect(await typeFor(accept)).toBe(type);
  });

  it.each([
    ["a quality above 1 is 1", `application/json;q=5, ${GRAPHQL_TYPE}`, GRAPHQL_TYPE],
    ["a quality that is not a number is 0", `application/json;q=1.1.1, ${GRAPHQL_TYPE};q=0.1`, GRAPHQL_TYPE],
    ["other text is not a quality", `application/json;q=x, ${GRAPHQL_TYPE};q=0.9`, "application/json"],
    ["another parameter is not a quality", `application/json;xq=0.1, ${GRAPHQL_TYPE};q=0.9`, "application/json"],
    ["a quality ends with its number", `application/json;q=0.1x, ${GRAPHQL_TYPE};q=0.9`, "application/json"],
  ])("in which %s", async (_rule, accept, type) => {
    expect(await typeFor(accept)).toBe(type);
  });

  it.each([
    [`${GRAPHQL_TYPE};q=0.9, application/*;q=0.1`, GRAPHQL_TYPE],
    [`${GRAPHQL_TYPE};q=0.1, application/*;q=0.9`, "application/json"],
    ["application/*;q=0, */*", "406"],
    ["text/*, image/*", "406"],
    [`application/json;q=0.2, application/json;q=0.8, ${GRAPHQL_TYPE};q=0.5`, "application/json"],
    [`application/json;q=0.8, application/json;q=0.2, ${GRAPHQL_TYPE};q=0.5`, "application/json"],
  ])("counts the most specific range, and of several the best: %s", async (accept, type) => {
    expect(await typeFor(accept)).toBe(type);
  });
});

describe("a page", () => {
  const isPage = async (accept: string): Promise<boolean> =>
    String((await client.get("/graphql", { headers: { accept: anew(accept) } })).headers["content-type"]).startsWith(
      "text/html",
    );

  it.each(["text/html", "TEXT/HTML", "text/html;q=0.9, */*;q=0.8", "application/json;q=0.5, text/html;q=0.5"])(
    "is served for %s",
    async (accept) => {
      expect(await isPage(accept)).toBe(true);
    },
  );

  it.each(["text/*", "*/*", "text/html;q=0", "application/json, text/html;q=0.9", "text/html;q=0.7, */*;q=0.8"])(
    "is not served for %s",
    async (accept) => {
      expect(await isPage(accept)).toBe(false);
    },
  );
});

it("a request without Accept is not for a page", async () => {
  const app = new PorticoApp({ logger: false });
  new Graph(schema({ query: { ok: field(t.boolean)(() => true) } }), { ide: true }).mount(app);

  const { status, headers } = await app.inject({ url: "/graphql?query={ok}", headers: {} });

  expect([status, headers["content-type"]]).toEqual([200, expect.stringContaining("json")]);
});

describe("the script of a page", () => {
  let sender: TestClient;
  let path: string;
  beforeAll(async () => {
    sender = testClient(new PorticoApp({ logger: false, openapi: true }).get("/", () => "ok"));
    const [, url = ""] = /<script src="([^"]+)"/.exec((await sender.get("/docs")).text()) ?? [];
    path = new URL(url, "http://host/docs").pathname;
  });
  const scriptFor = (headers: Readonly<Record<string, string>>): Promise<TestResponse> =>
    sender.request("HEAD", path, { headers });
  const encodingFor = async (header: string): Promise<unknown> =>
    (await scriptFor({ "accept-encoding": header })).headers["content-encoding"];

  it.each([
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["br;q=0, gzip", "gzip"],
    ["gzip;q=1", "gzip"],
    ["gzip; q=0.01", "gzip"],
    ["gzip;q=0.0x", "gzip"],
    ["gzip;xq=0", "gzip"],
    ["br", "br"],
    ["br, gzip", "br"],
    ["br,gzip ;q=0.1", "br"],
    ["br;gzip", "br"],
  ])("is compressed for %s as %s", async (header, encoding) => {
    expect(await encodingFor(header)).toBe(encoding);
  });

  it.each(["", "identity", "gzip;q=0", "gzip; q=0", "gzip;Q = 0.000 ", "gzip;x=1;q=0.", "xgzip", "br;q=0"])(
    "is not compressed for %j",
    async (header) => {
      expect(await encodingFor(header)).toBeUndefined();
    },
  );

  it("is not sent again to a client that names its tag", async () => {
    const etag = String((await scriptFor({})).headers["etag"]);
    const statusFor = async (tags: string): Promise<number> => (await scriptFor({ "if-none-match": tags })).status;

    expect(await Promise.all([etag, `W/${etag}`, `"a", ${etag}`, `"a",W/${etag} `].map(statusFor))).toEqual(
      Array(4).fill(304),
    );
    expect(await Promise.all(['"a"', `xW/${etag}`, `W/"a"`].map(statusFor))).toEqual(Array(3).fill(200));
  });
});

it("a page loads and runs only its own parts, and cannot be framed", async () => {
  const sender = testClient(new PorticoApp({ logger: false, openapi: true }).get("/", () => "ok"));

  const { headers } = await sender.get("/docs");

  expect(headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "private, no-cache",
  });
  const policy = String(headers["content-security-policy"]).split("; ");
  expect(policy[0]).toBe("default-src 'none'");
  expect(policy.slice(-4)).toEqual([
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]);
});
