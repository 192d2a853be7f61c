import { setTimeout as sleep } from "node:timers/promises";
import type { GraphQLSchema } from "graphql";
import { field, mutation, schema, t } from "portico/graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { flood, rawConnection } from "../../http/raw-connection.ts";
import {
  BOUNDARY,
  CONTENT_TYPE,
  type FormPart,
  file,
  form,
  json,
  map,
  oneFile,
  operations,
} from "../uploads/multipart-form.ts";
import { type Answer, type Endpoint, Section, usedBytes } from "./harness.ts";
import { requestBytes } from "./wire.ts";

const MB = 1024 ** 2;
const UPLOADS = {
  enabled: true,
  maxSize: "1mb",
  maxFiles: 2,
  maxTotal: 1.5 * MB,
  contentTypes: ["image/*"],
} as const;

const section = new Section();
let endpoint: Endpoint;
/** Everything goes to disk, so that what is left there is seen. */
let spilling: Endpoint;
beforeAll(async () => {
  endpoint = await section.serve({ graph: { uploads: UPLOADS } });
  spilling = await section.serve({ graph: { uploads: { ...UPLOADS, spillAbove: 1 } } });
});
afterAll(() => section.close());

const INVALID = "400 UPLOAD_INVALID";
const TOO_LARGE = "413 PAYLOAD_TOO_LARGE";
const TYPE_REFUSED = "400 UPLOAD_TYPE_REFUSED";
const BATCH_REFUSED = "400 BATCH_REFUSED";
const FILES = "mutation ($f: Upload, $fs: [Upload]) { up(f: $f, fs: $fs) }";

describe("H. Uploads", () => {
  it("[graphql:H1] multipart while uploads are off is 415", async () => {
    const off = await section.serve();

    expect(await send(oneFile(), off)).toMatchObject({ status: 415, code: "UNSUPPORTED_MEDIA_TYPE" });
    expect(off.ran).toEqual({});
  });

  it("[graphql:H2] an invalid boundary is 400", async () => {
    const types = [
      "multipart/form-data",
      "multipart/form-data; boundary=",
      `multipart/form-data; boundary=${"x".repeat(300)}`,
      'multipart/form-data; boundary="a b "',
    ];
    const broken = await endpoint.knock({
      headers: [["content-type", "multipart/form-data; boundary=a\r\nb"]],
      body: form(oneFile()),
    });

    for (const type of types) {
      const answer = await endpoint.ask({ headers: [["content-type", type]], body: form(oneFile()) });
      expect(`${answer.status} ${answer.code}`, type).toBe(INVALID);
    }
    expect([broken.status, endpoint.ran]).toEqual([400, {}]);
  });

  it("[graphql:H3] invalid operations are 400", async () => {
    for (const content of ["not json", "null", "1", ""])
      expect(await verdict([{ name: "operations", content }, map({}), file("0")])).toBe(INVALID);
    expect(await verdict([map({ 0: ["variables.f"] }), file("0")])).toBe(INVALID);
    expect(await verdict([{ name: "operations", content: "[null]" }, map({}), file("0")])).toBe(INVALID);
  });

  it("[graphql:H4] an invalid map is 400", async () => {
    const first = operations({ f: null });

    expect(await verdict([first])).toBe(INVALID);
    expect(await verdict([first, file("0")])).toBe(INVALID);
    expect(await verdict([first, { name: "map", content: "not json" }, file("0")])).toBe(INVALID);
    for (const paths of [null, [], 1, { 0: "variables.f" }, { 0: [1, 2] }, { 0: [] }, { 0: null }])
      expect(await verdict([first, map(paths), file("0")])).toBe(INVALID);
  });

  it("[graphql:H5] parts in another order are 400", async () => {
    const [first, second, third] = oneFile() as [FormPart, FormPart, FormPart];

    for (const parts of [
      [second, first, third],
      [first, third, second],
      [third, first, second],
    ])
      expect(await verdict(parts)).toBe(INVALID);
  });

  it("[graphql:H6] a path through a prototype is 400", async () => {
    const paths = [
      "__proto__.polluted",
      "variables.__proto__.x",
      "variables.constructor.prototype.p",
      "variables.hasOwnProperty.call",
      "variables.f.__proto__",
    ];

    for (const path of paths)
      expect(await verdict([operations({ f: null }), map({ 0: [path] }), file("0")])).toBe(INVALID);
    const own = '{"query":"{hello}","variables":{"__proto__":{"x":null}}}';
    expect(
      await verdict([{ name: "operations", content: own }, map({ 0: ["variables.__proto__.x"] }), file("0")]),
    ).toBe(INVALID);
  });

  it("[graphql:H7] a path outside the variables is 400", async () => {
    const whole = json("operations", { query: null, operationName: null, extensions: { x: null }, variables: null });

    for (const path of ["query", "operationName", "extensions.x", "variables", "variables.", ""])
      expect(await verdict([whole, map({ 0: [path] }), file("0")])).toBe(INVALID);
  });

  it("[graphql:H8] a path to an existing value is 400", async () => {
    for (const f of ["x", 0, false, {}, []])
      expect(await verdict([operations({ f }), map({ 0: ["variables.f"] }), file("0")])).toBe(INVALID);
  });

  it("[graphql:H9] a path to nowhere is 400", async () => {
    for (const path of ["nope.deep", "nope", "fs.99", "fs.-1", "fs.1e3", "fs.length", "fs.00", "fs. 0", "fs.0.x"])
      expect(await verdict([operations({ fs: [null, null] }), map({ 0: [`variables.${path}`] }), file("0")])).toBe(
        INVALID,
      );
  });

  it("[graphql:H10] a path of 10,000 steps and 10,000 paths are 400", async () => {
    const long = `variables${".f".repeat(10_000)}`;
    const many = Array.from({ length: 10_000 }, (_, i) => `variables.fs.${i}`);

    expect(await verdict([operations({ f: null }), map({ 0: [long] }), file("0")])).toBe(INVALID);
    expect(await verdict([operations({ fs: many.map(() => null) }), map({ 0: many }), file("0")])).toBe(INVALID);
  });

  it("[graphql:H11] a file that is never sent is 400", async () => {
    expect(await verdict([operations({ f: null }), map({ 0: ["variables.f"] })])).toBe(INVALID);
    expect(
      await verdict([
        operations({ fs: [null, null] }),
        map({ 0: ["variables.fs.0"], 1: ["variables.fs.1"] }),
        file("0"),
      ]),
    ).toBe(INVALID);
  });

  it("[graphql:H12] a part that is not in the map is 400, before its content", async () => {
    expect(await verdict([...oneFile(), file("1")])).toBe(INVALID);
    const answer = await withoutTheRest(
      [operations({ f: null }), map({ 0: ["variables.f"] })],
      file("1", "x".repeat(100)),
    );

    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*UPLOAD_INVALID/);
  });

  it("[graphql:H13] a part that comes twice is 400", async () => {
    const [first, second, third] = oneFile() as [FormPart, FormPart, FormPart];

    for (const parts of [
      [first, first, second, third],
      [first, second, second, third],
      [first, second, third, third],
    ])
      expect(await verdict(parts)).toBe(INVALID);
  });

  it("[graphql:H14] one file too many is 413 before a file is read", async () => {
    const paths = { 0: ["variables.fs.0"], 1: ["variables.fs.1"], 2: ["variables.fs.2"] };
    const parts = [json("operations", { query: FILES, variables: { fs: [null, null, null] } }), map(paths)];

    expect(await verdict([...parts, file("0"), file("1"), file("2")])).toBe(TOO_LARGE);
    expect(await withoutTheRest(parts, file("0", ""))).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("[graphql:H15] a file of one byte too many is 413, and the rest is not read", async () => {
    expect(await send(oneFile(Buffer.alloc(MB)))).toMatchObject({ status: 200, errors: [] });
    expect(await verdict(oneFile(Buffer.alloc(MB + 1)))).toBe(TOO_LARGE);

    endpoint.begin();
    const connection = await rawConnection(endpoint.port);
    const start = form(oneFile(""), "").subarray(0, -`\r\n--${BOUNDARY}`.length);
    const headers = [
      ["content-type", CONTENT_TYPE],
      ["transfer-encoding", "chunked"],
    ] as const;
    connection.socket.write(requestBytes({ headers }));
    connection.socket.write(`${start.length.toString(16)}\r\n${start.toString("latin1")}\r\n`);
    const sent = await flood(connection, Buffer.from(`10000\r\n${"x".repeat(65_536)}\r\n`), 1_024);
    await connection.closed;

    expect(connection.received()).toMatch(/^HTTP\/1\.1 413 /);
    expect(sent).toBeLessThan(8 * MB);
    expect([endpoint.ran, endpoint.hooked]).toEqual([{}, []]);
    await endpoint.end();
  });

  it("[graphql:H16] files that are too large in total are 413", async () => {
    expect(await verdict(twoFiles(Buffer.alloc(0.9 * MB)))).toBe(TOO_LARGE);
    expect(await send(twoFiles(Buffer.alloc(0.7 * MB)))).toMatchObject({ status: 200, errors: [] });
  });

  it("[graphql:H17] the declared type decides, and the bytes arrive as they are", async () => {
    const own = await section.serve({ schema: hexSchema(), graph: { uploads: UPLOADS } });

    for (const bytes of ["<html><script>", '<svg onload="x"/>', "MZ\u0090\0\u0003", "\r\n--portico\r\n\0\xff"]) {
      const content = Buffer.from(bytes, "latin1");
      const answer = await send(oneFile(content), own);
      expect([answer.status, answer.data]).toEqual([200, { up: `image/png ${content.toString("hex")}` }]);
    }
  });

  it("[graphql:H18] a type that is not listed is 400, and the message names file and type", async () => {
    const html = await send(oneFile("x", { type: "text/html" }));

    expect(html).toMatchObject({ status: 400, code: "UPLOAD_TYPE_REFUSED" });
    expect(html.message).toContain('"0.png"');
    expect(html.message).toContain('"text/html"');
    const [first, second] = oneFile() as [FormPart, FormPart];
    const untyped = { headers: 'Content-Disposition: form-data; name="0"; filename="0.png"', content: "x" };
    expect(await verdict([first, second, untyped])).toBe(TYPE_REFUSED);
    expect(await verdict(oneFile("x", { type: "image/" }))).toBe(TYPE_REFUSED);
    for (const type of ["IMAGE/PNG", "image/png; x=y"])
      expect(await send(oneFile("x", { type })), type).toMatchObject({
        status: 200,
        data: { up: "0.png:image/png:1" },
      });
  });

  it("[graphql:H19] a file name is data, and any message escapes it", async () => {
    const names = ["../../etc/passwd", ""];
    const hostile = ["a\0.png", "a%0D%0Ab.png", "x".repeat(10_000), "\u202Egnp.exe"];

    for (const filename of names) {
      expect(await send(oneFile("x", { filename })), filename).toMatchObject({ status: 200, errors: [] });
      const refusal = await send(oneFile("x", { filename, type: "text/html" }));
      expect([refusal.status, refusal.code]).toEqual([400, "UPLOAD_TYPE_REFUSED"]);
      expect(refusal.message).not.toMatch(/[\p{C}]/u);
      expect(refusal.message?.length).toBeLessThan(300);
    }
    for (const filename of hostile) {
      const refusal = await send(oneFile("x", { filename }));
      expect([refusal.status, refusal.code]).toEqual([400, "FILE_NAME_INVALID"]);
      expect(refusal.message).not.toMatch(/[\p{C}]/u);
      expect(refusal.message?.length).toBeLessThan(300);
    }
    expect(await send(oneFile("x", { filename: "../../etc/passwd" }))).toMatchObject({
      data: { up: "passwd:image/png:1" },
    });
  });

  it("[graphql:H20] a document that fails validation is 400, and nothing of the file is left", async () => {
    const parts = [
      json("operations", { query: "mutation($f:Upload){nope(f:$f)}", variables: { f: null } }),
      ...oneFile().slice(1),
    ];

    for (const on of [endpoint, spilling])
      expect(await send(parts, on)).toMatchObject({ status: 400, code: "GRAPHQL_VALIDATION_FAILED" });
  });

  it("[graphql:H21] one file at two places is read at both", async () => {
    const parts = [
      json("operations", { query: FILES, variables: { f: null, fs: [null] } }),
      map({ 0: ["variables.f", "variables.fs.0"] }),
      file("0", "twice"),
    ];

    for (const on of [endpoint, spilling])
      expect(await send(parts, on)).toMatchObject({ status: 200, data: { up: "0.png:image/png:5,0.png:image/png:5" } });
  });

  it("[graphql:H22] a file that is used 100 times is held once", async () => {
    const own = await section.serve({ graph: { uploads: UPLOADS, limits: { aliases: 100 } } });
    const uses = Array.from({ length: 100 }, (_, i) => `a${i}:up(f:$f)`).join(" ");
    const content = Buffer.alloc(MB, "x");
    const parts = [
      json("operations", { query: `mutation($f:Upload){${uses}}`, variables: { f: null } }),
      ...oneFile(content).slice(1),
    ];
    const before = usedBytes();

    const answer = await send(parts, own);

    expect([answer.status, answer.errors, own.ran]).toEqual([200, [], { up: 100 }]);
    expect((usedBytes() - before) / MB).toBeLessThan(10);
  });

  it("[graphql:H23] a client that disconnects halfway runs nothing and leaves nothing", async () => {
    for (const on of [endpoint, spilling]) {
      on.begin();
      for (let i = 0; i < 10; i++) {
        const connection = await rawConnection(on.port);
        const body = form(oneFile(Buffer.alloc(MB / 2)));
        connection.socket.write(
          requestBytes({
            headers: [
              ["content-type", CONTENT_TYPE],
              ["content-length", String(body.length)],
            ],
            body: body.subarray(0, body.length / 2),
          }),
        );
        await sleep(10);
        connection.socket.destroy();
        await connection.closed;
      }
      await expect.poll(() => on.log.lines.filter(({ code }) => code === "BODY_INCOMPLETE").length).toBe(10);
      expect([on.ran, on.hooked]).toEqual([{}, []]);
      await on.end();
    }
  });

  it("[graphql:H24] a batch may come with files, within the limits of both", async () => {
    const entry = { query: FILES, variables: { f: null } };
    const batch = (length: number): FormPart =>
      json(
        "operations",
        Array.from({ length }, () => entry),
      );

    for (const path of [
      "variables.f",
      "2.variables.f",
      "-1.variables.f",
      "0",
      "0.query",
      "0.variables",
      "0.0.variables.f",
    ])
      expect(await verdict([batch(2), map({ 0: [path] }), file("0")]), path).toBe(INVALID);
    expect(await verdict([batch(0), map({}), file("0")])).toBe(BATCH_REFUSED);
    expect(await verdict([batch(11), map({ 0: ["0.variables.f"] }), file("0")])).toBe(BATCH_REFUSED);
    for (const on of [endpoint, spilling]) {
      const answer = await send(
        [batch(2), map({ 0: ["0.variables.f"], 1: ["1.variables.f"] }), file("0"), file("1")],
        on,
      );
      expect([answer.status, on.ran]).toEqual([200, { up: 2 }]);
    }
  });

  it("[graphql:H25] an Upload is a file and nothing else", async () => {
    for (const f of ["x", 1, {}, { filename: "a.png" }, { filename: "a.png", stream: "x" }, ["x"]])
      expect(await endpoint.query(FILES, { f })).toMatchObject({ status: 400, code: "BAD_USER_INPUT" });
    for (const literal of ['"x"', "1", '{filename:"a.png"}', '{filename:"a.png",stream:"x"}'])
      expect((await endpoint.query(`mutation{up(f:${literal})}`)).status, literal).toBe(400);
    expect(endpoint.ran).toEqual({});
  });

  it("[graphql:H26] headers, fields and a preamble without end are refused, and memory stays bounded", async () => {
    const before = usedBytes();
    const fields = Array.from({ length: 10_000 }, (_, i) => ({ name: `t${i}`, content: "x" }));
    const longHeaders = `Content-Disposition: form-data; name="0"; filename="a.png"\r\nX-Long: ${"x".repeat(MB)}`;
    const preamble = Buffer.concat([Buffer.alloc(3 * MB, "x"), Buffer.from("\r\n"), form(oneFile())]);

    expect(await verdict([...oneFile().slice(0, 2), { headers: longHeaders, content: "x" }])).toBe(INVALID);
    expect(await verdict([...oneFile().slice(0, 2), ...fields])).toBe(INVALID);
    expect(await verdict([...fields, ...oneFile()])).toBe(INVALID);
    expect(await endpoint.ask({ headers: [["content-type", CONTENT_TYPE]], body: preamble })).toMatchObject({
      status: 413,
    });
    expect(endpoint.ran).toEqual({});
    expect((usedBytes() - before) / MB).toBeLessThan(10);
  });

  it("leaves memory, the event loop and the next request as they were", async () => {
    expect(await section.faults()).toEqual([]);
  });
});

const send = (parts: readonly FormPart[], on: Endpoint = endpoint): Promise<Answer> =>
  on.ask({ headers: [["content-type", CONTENT_TYPE]], body: form(parts) });

/** Status and code, in memory and on disk alike, when nothing has run. */
async function verdict(parts: readonly FormPart[]): Promise<string> {
  const verdicts = new Set<string>();
  for (const on of [endpoint, spilling]) {
    const { status, code } = await send(parts, on);
    verdicts.add(`${status} ${code}${Object.keys(on.ran).length === 0 ? "" : ", and something ran"}`);
  }
  return [...verdicts].join(" or ");
}

/** The response to a request that stops in the content of its last part. */
async function withoutTheRest(parts: readonly FormPart[], last: FormPart): Promise<string> {
  endpoint.begin();
  const connection = await rawConnection(endpoint.port);
  const body = form([...parts, last], "").subarray(0, -`\r\n--${BOUNDARY}`.length);
  const length = String(body.length + 500_000);
  connection.socket.write(
    requestBytes({
      headers: [
        ["content-type", CONTENT_TYPE],
        ["content-length", length],
      ],
      body,
    }),
  );
  const answer = await connection.until("correlationId");
  connection.socket.destroy();
  await connection.closed;
  expect([endpoint.ran, endpoint.hooked]).toEqual([{}, []]);
  await endpoint.end();
  return answer;
}

function twoFiles(content: Uint8Array): readonly FormPart[] {
  return [
    json("operations", { query: FILES, variables: { fs: [null, null] } }),
    map({ 0: ["variables.fs.0"], 1: ["variables.fs.1"] }),
    file("0", content),
    file("1", content),
  ];
}

/** Tells every byte of the file. */
function hexSchema(): GraphQLSchema {
  const up = mutation(t.string, { params: { f: t.nullable(t.upload) } })(async ({ f }) => {
    if (f === null) return "";
    const bytes = await new Response(f.stream()).bytes();
    return `${f.contentType} ${Buffer.from(bytes).toString("hex")}`;
  });
  return schema({ query: { hello: field(t.string)(() => "world") }, mutation: { up } });
}
