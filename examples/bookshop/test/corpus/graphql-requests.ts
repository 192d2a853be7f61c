import { once } from "node:events";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { type Answer, type Header, JSON_TYPE, type Rows } from "../../../../test/system/corpus/answer.ts";
import { bytesOf, dial, ended } from "../../../../test/system/corpus/wire.ts";
import { ask, post, send, theShop } from "./the-shop.ts";

// `{me{id}}` reads no table. It replaces `{hello}` of the corpus.
const HELLO = '{"query":"{me{id}}"}';
const NULL = { me: null };
const MB = 1024 ** 2;

const typed = (type: string): Promise<Answer> => send("/graphql", { headers: [["content-type", type]], body: HELLO });
const get = (params: Readonly<Record<string, string>>, headers: readonly Header[] = []): Promise<Answer> =>
  send(`/graphql?${new URLSearchParams(params).toString()}`, { headers });
const ranges = (count: number): string => Array.from({ length: count }, (_, i) => `a/${i}`).join(",");

/** A. HTTP envelope */
export const envelope: Rows = {
  async "A1 other methods are 405"() {
    for (const method of ["PUT", "PATCH", "DELETE"]) {
      const answer = await send("/graphql", { method, headers: [JSON_TYPE], body: HELLO });
      expect([answer.verdict, answer.headers["allow"]]).toEqual(["405 METHOD_NOT_ALLOWED", "GET, POST"]);
    }
  },
  async "A2 HEAD has no body, and a mutation over it is 405"() {
    const path = `/graphql?query=${encodeURIComponent("{me{id}}")}`;
    const [asGet, head] = [await send(path), await send(path, { method: "HEAD" })];
    // Both requests take from the caller's budget.
    const { date: _, ratelimit: __, ...headers } = asGet.headers;
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers).toMatchObject(headers);
    expect((await send("/graphql?query=mutation%7BshipOrder(id:1)%7Bid%7D%7D", { method: "HEAD" })).status).toBe(405);
  },
  async "A3 a foreign origin is allowed nothing"() {
    const { headers } = await send("/graphql", {
      method: "OPTIONS",
      headers: [
        ["origin", "https://evil.example"],
        ["access-control-request-method", "POST"],
      ],
    });
    expect(Object.keys(headers).filter((name) => name.startsWith("access-control-allow-"))).toEqual([]);
  },
  async "A4 no Content-Type is 415"() {
    expect((await send("/graphql", { body: HELLO })).verdict).toBe("415 UNSUPPORTED_MEDIA_TYPE");
  },
  async "A5 text/plain is 415"() {
    expect((await typed("text/plain")).verdict).toBe("415 UNSUPPORTED_MEDIA_TYPE");
  },
  async "A6 capitals are a media type"() {
    expect((await typed("APPLICATION/JSON")).said.data).toEqual(NULL);
  },
  async "A7 two types in one are 415"() {
    expect((await typed("text/plain;application/json")).verdict).toBe("415 UNSUPPORTED_MEDIA_TYPE");
  },
  async "A8 other charsets are 415"() {
    for (const charset of ["utf-7", "iso-2022-jp", "gb18030"])
      expect((await typed(`application/json; charset=${charset}`)).verdict).toBe("415 UNSUPPORTED_MEDIA_TYPE");
  },
  async "A9 quotes, a trailing semicolon and tabs are 200"() {
    for (const type of [
      'application/json; charset="utf-8"',
      "application/json;",
      "application/json\t;\tcharset=UTF-8\t",
    ])
      expect((await typed(type)).said.data).toEqual(NULL);
  },
  async "A10 two Content-Types are 415"() {
    const headers: Header[] = [JSON_TYPE, ["content-type", "multipart/form-data; boundary=x"]];
    expect((await send("/graphql", { headers, body: HELLO })).verdict).toBe("415 UNSUPPORTED_MEDIA_TYPE");
    expect((await typed("application/json, multipart/form-data")).verdict).toBe("415 UNSUPPORTED_MEDIA_TYPE");
  },
  async "A11 truncated JSON is 400"() {
    expect((await post("/graphql", '{"query":')).verdict).toBe("400 BODY_NOT_JSON");
  },
  async "A12 an empty body is 400"() {
    expect((await post("/graphql", "")).verdict).toBe("400 BODY_NOT_JSON");
  },
  async "A13 JSON that is not an object is 400"() {
    for (const body of ["null", '"x"', "1", "true"])
      expect((await post("/graphql", body)).verdict).toBe("400 BAD_REQUEST");
  },
  async "A14 a byte order mark is dropped"() {
    expect((await post("/graphql", `\uFEFF${HELLO}`)).said.data).toEqual(NULL);
  },
  async "A15 bytes that are not UTF-8 are 400"() {
    const [before, after] = HELLO.split("me");
    const body = Buffer.concat([
      Buffer.from(`${before}search(text:\\"`),
      Buffer.from([0xff]),
      Buffer.from(`\\")${after}`),
    ]);
    expect((await post("/graphql", body)).verdict).toBe("400 BODY_NOT_JSON");
  },
  async "A16 a compressed body is 415"() {
    expect((await post("/graphql", gzipSync(HELLO), [["content-encoding", "gzip"]])).verdict).toBe(
      "415 UNSUPPORTED_MEDIA_TYPE",
    );
  },
  async "A18 an announced length over the limit is 413 before a byte"() {
    const answer = await send("/graphql", { method: "POST", headers: [JSON_TYPE, ["content-length", `${MB + 1}`]] });
    expect([answer.verdict, answer.headers["connection"]]).toEqual(["413 PAYLOAD_TOO_LARGE", "close"]);
  },
  async "A19 a chunked body that grows over the limit is 413"() {
    const socket = await dial(theShop().client.port);
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    const end = ended(socket);
    socket.write(bytesOf("/graphql", { method: "POST", headers: [JSON_TYPE, ["transfer-encoding", "chunked"]] }));
    for (let sent = 0; sent < 20 * MB && !socket.closed; sent += 65_536)
      if (!socket.write(`10000\r\n${" ".repeat(65_536)}\r\n`))
        await Promise.race([once(socket, "drain").catch(() => {}), end]);
    await end;
    expect(received).toMatch(/^HTTP\/1\.1 413 [^]*connection: close[^]*PAYLOAD_TOO_LARGE/i);
  },
  async "A20 bytes after a short body are not a request"() {
    const socket = await dial(theShop().client.port);
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    const end = ended(socket);
    const headers: Header[] = [JSON_TYPE, ["content-length", "10"], ["connection", "keep-alive"]];
    socket.write(bytesOf("/graphql", { headers, body: HELLO.padEnd(MB) }));
    await end;
    expect(received.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 400", "HTTP/1.1 400"]);
  },
  async "A21 variables nested 20,000 deep do not crash"() {
    const deep = "[".repeat(20_000) + "]".repeat(20_000);
    expect((await post("/graphql", `{"query":"{me{id}}","variables":{"x":${deep}}}`)).verdict).toBe("200");
    expect(
      (await post("/graphql", `{"query":"query($x:String!){search(text:$x){__typename}}","variables":{"x":${deep}}}`))
        .verdict,
    ).toBe("400 BAD_USER_INPUT");
  },
  async "A22 an unknown key is ignored"() {
    expect((await post("/graphql", '{"query":"{me{id}}","foo":1}')).said.data).toEqual(NULL);
  },
  async "A23 __proto__ is an unknown key"() {
    expect((await post("/graphql", '{"query":"{me{id}}","__proto__":{"x":1}}')).said.data).toEqual(NULL);
  },
  async "A24 of a key that stands twice the last counts"() {
    const answer = await post("/graphql", '{"query":"{nope}","query":"{me{id}}"}');
    expect(answer.said.data).toEqual(NULL);
  },
  async "A25 an Accept of something else is 406"() {
    expect((await post("/graphql", HELLO, [["accept", "application/xml"]])).verdict).toBe("406 NOT_ACCEPTABLE");
  },
  async "A26 q-values count"() {
    const accept = "application/graphql-response+json;q=0.1, application/json;q=1";
    const { status, headers } = await post("/graphql", HELLO, [["accept", accept]]);
    expect([status, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
  },
  async "A27 JSON with a q-value of 0 is 406"() {
    expect((await post("/graphql", HELLO, [["accept", "application/json;q=0"]])).verdict).toBe("406 NOT_ACCEPTABLE");
  },
  async "A28 an Accept of 64 kB is 431, one of 15 kB is answered"() {
    expect((await post("/graphql", HELLO, [["accept", ranges(10_000)]])).status).toBe(431);
    const long = `${ranges(2_400).slice(0, 15_000)},application/json`;
    expect((await post("/graphql", HELLO, [["accept", long]])).said.data).toEqual(NULL);
  },
  async "A29 a query by browser is executed, not the page"() {
    for (const accept of ["text/html", "text/html,*/*;q=0.8"]) {
      const answer = await get({ query: "{me{id}}" }, [["accept", accept]]);
      expect([answer.said.data, answer.headers["content-type"]]).toEqual([NULL, "application/json; charset=utf-8"]);
    }
  },
  async "A30 a path that only ends like a health route is 404"() {
    expect((await send("/readyz")).status).toBe(200);
    expect((await send("/foo/bar/readyz")).status).toBe(404);
  },
};

const WRONG = [{}, 0, false, []];
const refused = async (body: object): Promise<void> => expect((await post("/graphql", body)).status).toBe(400);

/** B. Request parameters */
export const parameters: Rows = {
  "B1 no query is 400": () => refused({}),
  async "B2 a query that is not a string is 400"() {
    for (const query of WRONG) await refused({ query });
  },
  async "B3 an operationName that is not a string is 400"() {
    for (const operationName of WRONG) await refused({ query: "{me{id}}", operationName });
  },
  async "B4 variables that are not an object are 400"() {
    for (const variables of ["x", 0, false, []]) await refused({ query: "{me{id}}", variables });
  },
  async "B5 extensions that are not an object are 400"() {
    for (const extensions of ["x", 0, false, []]) await refused({ query: "{me{id}}", extensions });
  },
  async "B6 null stands for nothing"() {
    for (const name of ["operationName", "variables", "extensions"])
      expect((await post("/graphql", { query: "{me{id}}", [name]: null })).said.data).toEqual(NULL);
  },
  async "B7 an empty document is 400"() {
    for (const query of ["", " \n\t", "# nothing\n"]) await refused({ query });
  },
  "B8 a fragment alone is 400": () => refused({ query: "fragment F on Book{id}" }),
  "B9 two operations without a name are 400": () => refused({ query: "query A{me{id}} query B{me{id}}" }),
  "B10 a name that is not in the document is 400": () => refused({ query: "query A{me{id}}", operationName: "B" }),
  async "B11 names of Object.prototype are 400"() {
    for (const operationName of ["__proto__", "constructor", "toString"])
      await refused({ query: "query A{me{id}}", operationName });
  },
  "B12 a name of 900 kB is 400": () => refused({ query: "query A{me{id}}", operationName: "x".repeat(900_000) }),
  async "B13 a name cannot forge a line of the log"() {
    await refused({ query: "query A{me{id}}", operationName: 'A\r\n{"level":50,"msg":"forged"}\u001b[31m' });
    expect(theShop().log.lines.filter(({ msg }) => msg === "forged")).toEqual([]);
    expect(theShop().log.text).not.toContain("\u001b");
  },
  "B14 definitions of types are 400": () => refused({ query: "type X{a:Int}" }),
  async "B15 characters that no document has are 400"() {
    for (const escaped of ["\\u0000", "\\ud800", "\\u202e"])
      expect((await post("/graphql", `{"query":"{${escaped}me{id}}"}`)).verdict).toBe("400 GRAPHQL_PARSE_FAILED");
  },
  async "B16 variables that do not fit are 400"() {
    for (const variables of [{}, { n: null }, { n: 99_999_999_999 }])
      expect((await ask("query($n:Int!){books(first:$n){nodes{id}}}", variables)).verdict).toBe("400 BAD_USER_INPUT");
  },
  async "B17 10,000 bad items are 400 with at most 50 errors"() {
    const books = Array.from({ length: 10_000 }, () => ({ book: {} }));
    const answer = await ask("mutation($b:[OrderedBook!]!){placeOrder(books:$b){id}}", { b: books });
    expect([answer.verdict, (answer.said.errors?.length ?? 0) <= 50]).toEqual(["400 BAD_USER_INPUT", true]);
  },
  async "B19 variables named like members of Object.prototype arrive"() {
    for (const name of ["__proto__", "constructor", "toString"]) {
      const query = `query($${name}:ID!){book(by:{id:$${name}}){id}}`;
      const answer = await post("/graphql", `{"query":"${query}","variables":{"${name}":"book-1"}}`);
      expect(answer.said.data).toEqual({ book: { id: "book-1" } });
    }
  },
  async "B20 __proto__ is an unknown input field"() {
    expect((await ask('{book(by:{id:"book-1",__proto__:{}}){id}}')).verdict).toBe("400 GRAPHQL_VALIDATION_FAILED");
  },
};

const SHIP = 'mutation{shipOrder(id:"x"){id}}';

/** C. GET */
export const byGet: Rows = {
  async "C1 a mutation is 405"() {
    const answer = await get({ query: SHIP });
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "POST"]);
  },
  async "C2 a mutation that operationName picks is 405"() {
    const query = `query Q{me{id}} mutation M${SHIP.slice(8)}`;
    expect((await get({ query, operationName: "M" })).status).toBe(405);
    expect((await get({ query, operationName: "Q" })).said.data).toEqual(NULL);
  },
  async "C3 a subscription needs a stream"() {
    const answer = await get({ query: 'subscription{stockChanged(book:"book-1")}' }, [["accept", "application/json"]]);
    expect(answer.verdict).toBe("400 SUBSCRIPTION_NEEDS_STREAM");
  },
  async "C4 variables that are not JSON are 400"() {
    expect((await get({ query: "{me{id}}", variables: "{bad" })).status).toBe(400);
  },
  async "C5 variables are an object or null"() {
    const statuses = [];
    for (const variables of ["[1]", '"x"', "null"]) statuses.push((await get({ query: "{me{id}}", variables })).status);
    expect(statuses).toEqual([400, 400, 200]);
  },
  async "C6 a parameter that is given twice is 400"() {
    expect((await send("/graphql?query=%7Bme%7Bid%7D%7D&query=%7Bme%7Bid%7D%7D")).status).toBe(400);
  },
  async "C7 extensions that are not JSON are 400"() {
    expect((await get({ query: "{me{id}}", extensions: "{bad" })).status).toBe(400);
  },
  async "C8 a URL of 1 MB is 431"() {
    expect((await send(`/graphql?query=${"a".repeat(MB)}`)).status).toBe(431);
  },
  async "C10 a GET with a form is 415, with JSON it is 200"() {
    expect((await get({ query: "{me{id}}" }, [["content-type", "multipart/form-data; boundary=x"]])).status).toBe(415);
    expect((await get({ query: "{me{id}}" }, [JSON_TYPE])).status).toBe(200);
  },
  async "C11 nothing is kept"() {
    const { headers } = await get({ query: "{me{id}}" });
    expect([headers["cache-control"], headers["vary"]]).toEqual(["no-store", expect.stringContaining("Accept")]);
  },
  async "C12 a query that a foreign page embeds is 403"() {
    const answer = await get({ query: "{me{id}}" }, [["sec-fetch-site", "cross-site"]]);
    expect([answer.verdict, answer.headers["x-content-type-options"]]).toEqual(["403 CROSS_SITE_REFUSED", "nosniff"]);
  },
};
