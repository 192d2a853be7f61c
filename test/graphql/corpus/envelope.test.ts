import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import compress from "@fastify/compress";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { flood, rawConnection } from "../../http/raw-connection.ts";
import { threadCpuMs } from "../../thread-cpu-ms.ts";
import { type Endpoint, Section, usedBytes } from "./harness.ts";
import { exchange, requestBytes } from "./wire.ts";

const section = new Section();
let endpoint: Endpoint;
beforeAll(async () => {
  endpoint = await section.serve();
});
afterAll(() => section.close());

const JSON_TYPE = ["content-type", "application/json"] as const;
const HELLO = '{"query":"{hello}"}';
const MB = 1024 ** 2;

describe("A. HTTP envelope", () => {
  it("[graphql:A1] other methods are 405, and Allow lists the accepted ones", async () => {
    const postOnly = await section.serve({ graph: { transport: { getQueries: false } } });

    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const answer = await endpoint.ask({ method, headers: [JSON_TYPE], body: HELLO }, { operations: 0 });
      const strict = await postOnly.ask({ method, headers: [JSON_TYPE], body: HELLO }, { operations: 0 });

      expect([answer.status, answer.code, answer.headers["allow"]]).toEqual([405, "METHOD_NOT_ALLOWED", "GET, POST"]);
      expect([strict.status, strict.headers["allow"]]).toEqual([405, "POST"]);
      expect(endpoint.ran).toEqual({});
    }
  });

  it("[graphql:A2] HEAD has the headers of GET and no body, and a mutation over it is 405", async () => {
    const { date: _, ...headers } = (await endpoint.get({ query: "{hello}" })).headers;

    const head = await endpoint.ask({ method: "HEAD", target: "/graphql?query=%7Bhello%7D" });
    const ran = { ...endpoint.ran };
    const mutation = await endpoint.ask({ method: "HEAD", target: "/graphql?query=mutation%7Blogin%7D" });

    expect([head.status, ran]).toEqual([200, { hello: 1 }]);
    expect(head.headers).toMatchObject(headers);
    expect([mutation.status, mutation.headers["allow"], endpoint.ran]).toEqual([405, "POST", {}]);
  });

  it("[graphql:A3] a preflight of a foreign origin is allowed nothing, of a listed one it is", async () => {
    const listing = await section.serve({ app: { origins: ["https://good.example"] } });
    const preflight = (origin: string): Parameters<Endpoint["knock"]>[0] => ({
      method: "OPTIONS",
      headers: [
        ["origin", origin],
        ["access-control-request-method", "POST"],
      ],
    });
    const allowed = async (on: Endpoint, origin: string): Promise<readonly string[]> => {
      const { headers } = await on.knock(preflight(origin));
      return Object.keys(headers).filter((name) => name.startsWith("access-control-allow-"));
    };

    expect(await allowed(endpoint, "https://evil.example")).toEqual([]);
    expect(await allowed(listing, "https://evil.example")).toEqual([]);
    expect(await allowed(listing, "https://good.example")).toContain("access-control-allow-origin");
  });

  it("[graphql:A4] no Content-Type is 415", async () => {
    expect(await endpoint.ask({ body: HELLO })).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  it("[graphql:A5] text/plain is 415", async () => {
    expect(await typed("text/plain")).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  it("[graphql:A6] a media type in capitals is accepted", async () => {
    expect(await typed("APPLICATION/JSON")).toMatchObject({ status: 200, data: { hello: "world" } });
  });

  it("[graphql:A7] text/plain with a second type in it is 415", async () => {
    expect(await typed("text/plain;application/json")).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  it("[graphql:A8] any charset but UTF-8 is 415", async () => {
    for (const charset of ["utf-7", "iso-2022-jp", "gb18030", "utf-16", '"utf-7"', "UTF-8-x"]) {
      expect(await typed(`application/json; charset=${charset}`)).toMatchObject({ status: 415 });
      expect(endpoint.ran).toEqual({});
    }
  });

  it("[graphql:A8] a charset in a malformed Content-Type is 415, also UTF-8", async () => {
    for (const rest of [
      "charset=utf-8; charset=utf-8",
      "junk junk; charset=utf-8",
      'charset="utf-8',
      "charset=utf-8\u00A0",
    ]) {
      expect(await typed(`application/json; ${rest}`), rest).toMatchObject({ status: 415 });
      expect(endpoint.ran).toEqual({});
    }
  });

  it("[graphql:A9] quotes, a trailing semicolon and tabs around parameters are accepted", async () => {
    const types = ['application/json; charset="utf-8"', "application/json;", "application/json\t;\tcharset=UTF-8\t"];

    for (const type of types) expect(await typed(type), type).toMatchObject({ status: 200, data: { hello: "world" } });
  });

  it("[graphql:A10] two Content-Types are 415, in two headers or in one", async () => {
    const [json, form] = ["application/json", "multipart/form-data; boundary=x"];
    const uploads = await section.serve({ graph: { uploads: { enabled: true } } });

    for (const on of [endpoint, uploads]) {
      for (const types of [[json, form], [form, json], [json, json], [`${json}, ${form}`]]) {
        const headers = types.map((type) => ["content-type", type] as const);
        expect(await on.ask({ headers, body: HELLO })).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
        expect(on.ran).toEqual({});
      }
    }
  });

  it("[graphql:A11] truncated JSON is 400", async () => {
    expect(await endpoint.post('{"query":')).toMatchObject({ status: 400, code: "BODY_NOT_JSON" });
  });

  it("[graphql:A12] an empty body is 400", async () => {
    expect(await endpoint.post("")).toMatchObject({ status: 400, code: "BODY_NOT_JSON" });
    expect(await endpoint.ask({ headers: [JSON_TYPE] })).toMatchObject({ status: 400, code: "BODY_NOT_JSON" });
  });

  it("[graphql:A13] JSON that is not an object is 400", async () => {
    for (const body of ["null", '"x"', "1", "true"])
      expect(await endpoint.post(body, [], { operations: 0 }), body).toMatchObject({
        status: 400,
        code: "BAD_REQUEST",
      });
  });

  it("[graphql:A14] a byte order mark is dropped", async () => {
    expect(await endpoint.post(`\uFEFF${HELLO}`)).toMatchObject({ status: 200, data: { hello: "world" } });
  });

  it("[graphql:A15] bytes that are not UTF-8 are 400, also inside a string", async () => {
    for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xe2, 0x82]]) {
      const body = Buffer.concat([Buffer.from('{"query":"{echo(s:\\"'), Buffer.from(bytes), Buffer.from('\\")}"}')]);
      expect(await endpoint.post(body)).toMatchObject({ status: 400, code: "BODY_NOT_JSON" });
      expect(endpoint.ran).toEqual({});
    }
  });

  it("[graphql:A16] a compressed body is 415 without a middleware that unpacks it", async () => {
    const answer = await endpoint.post(gzipSync(HELLO), [["content-encoding", "gzip"]]);

    expect(answer).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
  });

  it("[graphql:A17] a gzip bomb is 413 where the application unpacks, and memory stays bounded", async () => {
    const unpacked: Readable[] = [];
    const unpacking = await section.serve({
      prepare: (app) =>
        app.engine.register(compress).addHook("preHandler", async ({ body, raw }) => {
          if (body instanceof Readable && body !== raw) unpacked.push(body);
        }),
    });
    const gzipped = [["content-encoding", "gzip"]] as const;
    const tenMegabytes = gzipSync(Buffer.alloc(10 * MB, "a"), { level: 9 });
    // Several gzip members are unpacked as one body: it is below the limit and unpacks to almost 1 GB.
    const bomb = Buffer.concat(Array<Buffer>(Math.floor(MB / tenMegabytes.length) - 1).fill(tenMegabytes));
    expect(tenMegabytes.length).toBeLessThan(11_000);
    expect(bomb.length).toBeLessThan(MB);
    const before = usedBytes();

    expect(await unpacking.post(gzipSync(HELLO), gzipped)).toMatchObject({ status: 200, data: { hello: "world" } });
    expect(await unpacking.post(tenMegabytes, gzipped)).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
    expect(await unpacking.post(bomb, gzipped)).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
    expect(unpacked.map((body) => body.readableEnded || body.isPaused())).toEqual([true, true, true]);
    expect((usedBytes() - before) / 1e6).toBeLessThan(20);
  });

  it("[graphql:A18] an announced length over maxBody is 413 before a byte is sent", async () => {
    const answer = await endpoint.ask({ headers: [JSON_TYPE, ["content-length", String(MB + 1)]] });

    expect(answer).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
    expect(answer.headers["connection"]).toBe("close");
  });

  it("[graphql:A19] a chunked body that grows over maxBody is 413, and the rest is not read", async () => {
    endpoint.begin();
    const connection = await rawConnection(endpoint.port);
    connection.socket.write(requestBytes({ headers: [JSON_TYPE, ["transfer-encoding", "chunked"]] }));
    const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, " "), Buffer.from("\r\n")]);

    const sent = await flood(connection, chunk, 1_024);
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(connection.received().toLowerCase()).toContain("connection: close");
    expect(connection.received()).toContain("PAYLOAD_TOO_LARGE");
    expect(sent).toBeLessThan(8 * MB);
    expect(endpoint.hooked).toEqual([]);
    await endpoint.end();
  });

  it("[graphql:A20] bytes after a short body are not a request, and a slow body ends at the request's timeout", async () => {
    const hurried = await section.serve({ app: { timeouts: { headersSeconds: 1, requestSeconds: 1 } } });
    endpoint.begin();
    const surplus = await rawConnection(endpoint.port);
    const slow = await rawConnection(hurried.port);

    surplus.socket.write(requestBytes({ headers: [JSON_TYPE, ["content-length", "10"]], body: HELLO.padEnd(MB) }));
    slow.socket.write(requestBytes({ headers: [JSON_TYPE, ["content-length", String(HELLO.length)]] }));
    const trickle = setInterval(() => slow.socket.write(" "), 300);
    await Promise.all([surplus.closed, slow.closed]);
    clearInterval(trickle);

    expect(surplus.received().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400", "HTTP/1.1 400"]);
    expect(surplus.received()).toContain("BODY_NOT_JSON");
    expect(slow.received().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 408"]);
    expect([surplus.socket.closed, slow.socket.closed]).toEqual([true, true]);
    expect(endpoint.ran).toEqual({});
    await endpoint.end();
    await section.drop(hurried);
  });

  it("[graphql:A21] variables nested 20,000 arrays deep get a response", async () => {
    const x = "[".repeat(20_000) + "]".repeat(20_000);

    const answer = await endpoint.post(`{"query":"query($x:JSON){echo(x:$x)}","variables":{"x":${x}}}`);

    expect(answer.status).toBe(200);
    expect(endpoint.ran).toEqual({ echo: 1 });
  });

  it("[graphql:A22] an unknown key is ignored", async () => {
    expect(await endpoint.post('{"query":"{hello}","foo":1}')).toMatchObject({ status: 200, data: { hello: "world" } });
  });

  it("[graphql:A23] __proto__ is an unknown key like any other", async () => {
    for (const key of [
      '"__proto__":{"x":1}',
      '"__proto__":{"query":"{boom}"}',
      '"constructor":{"prototype":{"polluted":1}}',
    ])
      expect(await endpoint.post(`{"query":"{hello}",${key}}`)).toMatchObject({
        status: 200,
        data: { hello: "world" },
      });
    expect(await endpoint.post('{"__proto__":{"query":"{hello}"}}', [], { operations: 1 })).toMatchObject({
      status: 400,
    });
  });

  it("[graphql:A24] the last of two equal keys is used", async () => {
    const answer = await endpoint.post('{"query":"{hello}","query":"{boom}"}');

    expect(answer).toMatchObject({ status: 200, data: { boom: null }, message: "Unexpected error" });
    expect(endpoint.ran).toEqual({ boom: 1 });
  });

  it("[graphql:A25] an Accept of something else is 406, as JSON", async () => {
    const answer = await endpoint.post(HELLO, [["accept", "application/xml"]]);

    expect(answer).toMatchObject({ status: 406, code: "NOT_ACCEPTABLE" });
    expect(endpoint.ran).toEqual({});
  });

  it("[graphql:A26] q-values are honoured", async () => {
    const accept = "application/graphql-response+json;q=0.1, application/json;q=1";
    const reversed = "application/graphql-response+json;q=1, application/json;q=0.1";

    expect(await labelled(accept)).toBe("200 application/json; charset=utf-8");
    expect(await labelled(reversed)).toBe("200 application/graphql-response+json; charset=utf-8");
  });

  it("[graphql:A27] JSON with a q-value of 0 is 406", async () => {
    for (const accept of ["application/json;q=0", "application/json;q=0.000", "*/*;q=0"])
      expect(await labelled(accept)).toBe("406 application/json; charset=utf-8");
  });

  it("[graphql:A28] an Accept of 10,000 ranges is 431, one of 2,400 is negotiated after little work", async () => {
    const ranges = (count: number): string => Array.from({ length: count }, (_, i) => `a/${i}`).join(",");
    const long = `${ranges(2_400).slice(0, 15_000)},application/json`;
    const huge = await endpoint.knock({ headers: [JSON_TYPE, ["accept", ranges(10_000)]], body: HELLO });
    const [short, slow] = [await cpuOf([["accept", "application/json"]]), await cpuOf([["accept", long]])];

    expect(huge.status).toBe(431);
    // It takes some milliseconds in all, and seconds if the work is quadratic.
    expect(slow - short).toBeLessThan(300);
  });

  it("a GET with a query and an Accept of text/html is executed and answered as JSON, the IDE being off", async () => {
    for (const accept of ["text/html", "text/html,*/*;q=0.8", "text/html,application/xhtml+xml;q=0.9"]) {
      const answer = await endpoint.get({ query: "{hello}" }, [["accept", accept]]);
      expect([answer.status, answer.data]).toEqual([200, { hello: "world" }]);
      expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    }
  });

  it("[graphql:A30] a path that only ends like a health route is 404", async () => {
    const checked = await section.serve({ app: { health: { live: "/health" } } });

    expect((await checked.knock({ method: "GET", target: "/health" })).status).toBe(200);
    for (const target of ["/foo/bar/health", "/graphql/health", "/health/graphql"])
      expect((await checked.knock({ method: "GET", target })).status).toBe(404);
  });

  it("leaves memory, the event loop and the next request as they were", async () => {
    expect(await section.faults()).toEqual([]);
  });
});

const typed = (type: string): ReturnType<Endpoint["ask"]> =>
  endpoint.ask({ headers: [["content-type", type]], body: HELLO });

async function labelled(accept: string): Promise<string> {
  const { status, headers } = await endpoint.post(HELLO, [["accept", accept]]);
  return `${status} ${headers["content-type"]}`;
}

/** The CPU time of 15 requests, in milliseconds. */
async function cpuOf(headers: readonly (readonly [string, string])[]): Promise<number> {
  const before = threadCpuMs();
  for (let i = 0; i < 15; i++) await exchange(endpoint.port, { headers: [JSON_TYPE, ...headers], body: HELLO });
  return threadCpuMs() - before;
}
