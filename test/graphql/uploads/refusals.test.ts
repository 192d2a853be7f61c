import { getEventListeners } from "node:events";
import { Readable } from "node:stream";
import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { liveClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { receiveUpload } from "../../../src/graphql/uploads/receive-upload.ts";
import type { UploadsOptions } from "../../../src/graphql/uploads/uploads.ts";
import { rawConnection } from "../../http/raw-connection.ts";
import { BOUNDARY, CONTENT_TYPE, type FormPart, file, form, json, map, oneFile, operations } from "./multipart-form.ts";
import { MAX_BODY, type Receive, receiveOverSocket, receiveStream, type Surroundings, uploadsOf } from "./receive.ts";

const invalid = (message: string): object => ({ status: 400, code: "UPLOAD_INVALID", message });
const tooLarge = (message: string): object => ({ status: 413, code: "PAYLOAD_TOO_LARGE", message });
const typeRefused = (message: string): object => ({ status: 400, code: "UPLOAD_TYPE_REFUSED", message });
const noBoundary = invalid("The Content-Type of an upload must have one boundary of at most 70 characters");
const unfinished = invalid("The body ends before its closing boundary");
const nameless = invalid("A part of the body has no name");
const batchRefused = { status: 400, code: "BATCH_REFUSED", message: "This endpoint does not accept batches" };

type Row = [title: string, body: Buffer, expected: object, options?: UploadsOptions, surroundings?: Surroundings];

const LIMITS: UploadsOptions = {
  maxSize: 1000,
  maxFiles: 2,
  maxTotal: 1500,
  contentTypes: ["image/*"],
  spillAbove: 100,
};
const two = [operations({ a: null, b: null }), map({ 0: ["variables.a"], 1: ["variables.b"] })] as const;
const at = (...paths: unknown[]): Buffer =>
  form([operations({ f: null, fs: [null, null], text: "x", in: { f: null } }), map({ 0: paths }), file("0")]);
const withMap = (content: string): Buffer => form([operations({ f: null }), { name: "map", content }, file("0")]);
const withOperations = (content: string): Buffer =>
  form([{ name: "operations", content }, map({ 0: ["variables.f"] }), file("0")]);
const withFile = (part: Partial<FormPart>): Buffer => form(oneFile("content", part));
const many = (length: number, part: (index: number) => FormPart): Buffer =>
  form([...oneFile(), ...Array.from({ length }, (_, index) => part(index))]);

const rows: readonly Row[] = [
  ["a Content-Type without a boundary", form(oneFile()), noBoundary, {}, { contentType: "multipart/form-data" }],
  ["an empty boundary", form(oneFile()), noBoundary, {}, { contentType: 'multipart/form-data; boundary=""' }],
  ["two boundaries", form(oneFile()), noBoundary, {}, { contentType: `${CONTENT_TYPE}; boundary=x` }],
  [
    "a boundary of 300 characters",
    form(oneFile()),
    noBoundary,
    {},
    { contentType: `multipart/form-data; boundary=${"x".repeat(300)}` },
  ],
  [
    "another boundary than the body's",
    form(oneFile()),
    unfinished,
    {},
    { contentType: "multipart/form-data; boundary=other" },
  ],
  ["an empty body", Buffer.alloc(0), unfinished],
  ["no closing boundary", form(oneFile(), "\r\n"), unfinished],
  ["a body that ends inside a file", form(oneFile()).subarray(0, -30), unfinished],

  [
    "no operations",
    form([map({ 0: ["variables.f"] }), file("0")]),
    invalid('The part "operations" must come before "map"'),
  ],
  ["nothing but a closing boundary", form([]), invalid('The part "operations" is missing')],
  ["operations that are not JSON", withOperations("{"), invalid('The part "operations" is not valid JSON')],
  [
    "operations that are not UTF-8",
    form([{ name: "operations", content: Buffer.from([0x22, 0xff, 0x22]) }]),
    invalid('The part "operations" is not valid JSON'),
  ],
  ["operations that are null", withOperations("null"), invalid('"operations" must be an object or an array')],
  ["operations that are a number", withOperations("1"), invalid('"operations" must be an object or an array')],
  ["operations that are an array of null", withOperations("[null]"), batchRefused],
  [
    "a batch",
    form([json("operations", [{ variables: { f: null } }]), map({ 0: ["0.variables.f"] }), file("0")]),
    batchRefused,
  ],

  ["no map", form([operations({ f: null })]), invalid('The part "map" is missing')],
  ["a map that is not JSON", withMap("{"), invalid('The part "map" is not valid JSON')],
  [
    "a map that is not UTF-8",
    form([operations({ f: null }), { name: "map", content: Buffer.from([0x22, 0xff, 0x22]) }]),
    invalid('The part "map" is not valid JSON'),
  ],
  ["a map that is a string", withMap('"variables.f"'), invalid('"map" must be an object')],
  [
    "a map whose value has a number after a path",
    withMap('{"0":["variables.f",1]}'),
    invalid('"map" must list at least one path for the file "0"'),
  ],
  ["a map that is null", withMap("null"), invalid('"map" must be an object')],
  ["a map that is an array", withMap('[["variables.f"]]'), invalid('"map" must be an object')],
  [
    "a map whose value is a string",
    withMap('{"0":"variables.f"}'),
    invalid('"map" must list at least one path for the file "0"'),
  ],
  [
    "a map whose value is a list of numbers",
    withMap('{"0":[1]}'),
    invalid('"map" must list at least one path for the file "0"'),
  ],
  [
    "a map whose value is an empty list",
    withMap('{"0":[]}'),
    invalid('"map" must list at least one path for the file "0"'),
  ],
  [
    "a map that calls a file operations",
    form([operations({ f: null }), map({ operations: ["variables.f"] })]),
    invalid('"map" must not name a file "operations"'),
  ],

  [
    "a map before the operations",
    form([map({ 0: ["variables.f"] }), operations({ f: null }), file("0")]),
    invalid('The part "operations" must come before "map"'),
  ],
  [
    "a file before the map",
    form([operations({ f: null }), file("0"), map({ 0: ["variables.f"] })]),
    invalid('The parts "operations" and "map" must come before the files'),
  ],
  [
    "a file before the operations",
    form([file("0"), operations({ f: null }), map({ 0: ["variables.f"] })]),
    invalid('The parts "operations" and "map" must come before the files'),
  ],

  ...[
    "__proto__.polluted",
    "variables.__proto__",
    "variables.__proto__.x",
    "variables.fs.__proto__.0",
    "variables.constructor.prototype.p",
    "variables.hasOwnProperty.call",
    "variables.toString",
    "query",
    "operationName",
    "extensions.x",
    "variables",
    "variables.",
    "variables..f",
    "",
    "f",
    "variables.text",
    "variables.text.length",
    "variables.text.0",
    "variables.in",
    "variables.fs",
    "variables.nope",
    "variables.nope.deep",
    "variables.nope.3",
    "variables.f.deep",
    "variables.fs.99",
    "variables.fs.2",
    "variables.fs.-1",
    "variables.fs.1e3",
    "variables.fs.0x1",
    "variables.fs.length",
    "variables.fs.00",
    "variables.fs.01",
    "variables.fs. 1",
    "variables.fs.1.0",
    "variables.fs.x1",
    "in.variables.f",
  ].map((path): Row => {
    const target = path.startsWith("variables.") ? 'to a null in "operations"' : 'below "variables"';
    return [
      `the path ${JSON.stringify(path)}`,
      at(path),
      invalid(`The path ${JSON.stringify(path)} must point ${target}`),
    ];
  }),
  [
    "an own __proto__ in the variables",
    form([
      { name: "operations", content: '{"variables":{"__proto__":{"x":null}}}' },
      map({ 0: ["variables.__proto__.x"] }),
      file("0"),
    ]),
    invalid('The path "variables.__proto__.x" must point to a null in "operations"'),
  ],
  [
    "a path without variables",
    form([json("operations", { query: "{ a }" }), map({ 0: ["variables.f"] }), file("0")]),
    invalid('The path "variables.f" must point to a null in "operations"'),
  ],
  ["a path of 10,000 segments", at(`variables${".x".repeat(10_000)}`), invalid('"map" has a path that is too long')],
  ["a path given twice", at("variables.f", "variables.f"), invalid('The path "variables.f" is listed twice')],
  ["a path of 65 segments", at(`variables${".x".repeat(64)}`), invalid('"map" has a path that is too long')],
  [
    "258 paths for one file where one is allowed",
    form([operations({}), map({ 0: Array.from({ length: 258 }, (_, index) => `variables.${index}`) }), file("0")]),
    invalid('"map" has too many paths'),
    { maxFiles: 1 },
  ],
  [
    "10,000 paths for one file",
    form([operations({ f: null }), map({ 0: Array.from({ length: 10_000 }, () => "variables.f") }), file("0")]),
    invalid('"map" has too many paths'),
    {},
    { maxBody: 1024 ** 2 },
  ],

  ["a file that never comes", form([...two, file("0")]), invalid('The part "1" is listed in "map" but was not sent')],
  [
    "a part that the map does not know",
    form([...oneFile(), file("1")]),
    invalid('The part "1" is not listed in "map"'),
  ],
  [
    "a field that the map does not know",
    form([...oneFile(), { name: "token", content: "x" }]),
    invalid('The part "token" is not listed in "map"'),
  ],
  ["the same file twice", form([...two, file("0"), file("0")]), invalid('The part "0" was sent twice')],
  [
    "the same file once more at the end",
    form([...two, file("0"), file("1"), file("1")]),
    invalid('The part "1" was sent twice'),
  ],
  [
    "operations twice",
    form([operations({ f: null }), operations({ f: null }), map({ 0: ["variables.f"] }), file("0")]),
    invalid('The part "operations" was sent twice'),
  ],
  [
    "operations once more at the end",
    form([...oneFile(), operations({})]),
    invalid('The part "operations" was sent twice'),
  ],
  [
    "a map twice",
    form([operations({ f: null }), map({ 0: ["variables.f"] }), map({ 0: ["variables.f"] }), file("0")]),
    invalid('The part "map" was sent twice'),
  ],

  ["a part without headers", Buffer.from(`--${BOUNDARY}\r\n\r\nx\r\n--${BOUNDARY}--\r\n`), nameless],
  [
    "a part whose headers never end",
    form([...oneFile(), { headers: "X: y", content: "" }]).subarray(0, -30),
    unfinished,
  ],
  [
    "a part that is cut off in its headers by the next",
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data\r\n--${BOUNDARY}--\r\n`),
    invalid("A part of the body has no headers"),
  ],
  ["a part without a disposition", withFile({ headers: "Content-Type: image/png" }), nameless],
  ["a part that is no form data", withFile({ headers: 'Content-Disposition: attachment; name="0"' }), nameless],
  ["a part without a name", withFile({ headers: 'Content-Disposition: form-data; filename="0"' }), nameless],
  ["a part with two names", withFile({ headers: 'Content-Disposition: form-data; name="0"; name="1"' }), nameless],
  [
    "a part with two dispositions",
    withFile({ headers: 'Content-Disposition: form-data; name="0"\r\nContent-Disposition: form-data; name="1"' }),
    invalid("A part of the body repeats the header content-disposition"),
  ],
  ["a part whose name never ends", withFile({ headers: 'Content-Disposition: form-data; name="0' }), nameless],
  ["a file name with a line break in it", withFile({ filename: "a\r\nb.png" }), nameless],
  [
    "part headers of 1 MB",
    withFile({ headers: `X-Long: ${"x".repeat(1024 ** 2)}\r\nContent-Disposition: form-data; name="0"` }),
    invalid("The headers of a part are too large"),
    { ...LIMITS, maxTotal: "2mb" },
  ],
  [
    "part headers of 40 kB",
    withFile({
      headers: `Content-Disposition: form-data; name="0"\r\nContent-Type: image/png\r\nX-Long: ${"x".repeat(40_000)}`,
    }),
    invalid("The headers of a part are too large"),
  ],
  [
    "10,000 text fields",
    many(10_000, (index) => ({ name: `t${index}`, content: "x" })),
    invalid('The part "t0" is not listed in "map"'),
    { maxTotal: "2mb" },
  ],

  [
    "three files where two are taken",
    form([
      operations({ a: null, b: null, c: null }),
      map({ 0: ["variables.a"], 1: ["variables.b"], 2: ["variables.c"] }),
    ]),
    tooLarge("The upload has 3 files; the limit is 2"),
    LIMITS,
  ],
  [
    "a file that is one byte too large",
    form(oneFile("x".repeat(1001))),
    tooLarge('The file "0.png" is larger than 1000 bytes'),
    LIMITS,
  ],
  [
    "files that are one byte too large together",
    form([...two, file("0", "x".repeat(1000)), file("1", "x".repeat(501))]),
    tooLarge("The files are larger than 1500 bytes in total"),
    LIMITS,
  ],
  [
    "operations larger than a body may be",
    form([operations({ text: "x".repeat(MAX_BODY) }), map({})]),
    tooLarge('"operations" and "map" are larger than 65536 bytes in total'),
  ],
  [
    "operations and map one byte too large together",
    form([
      { name: "operations", content: '{"variables":{}}' },
      { name: "map", content: "{}" },
    ]),
    tooLarge('"operations" and "map" are larger than 17 bytes in total'),
    {},
    { maxBody: 17 },
  ],
  [
    "a preamble larger than everything together may be",
    Buffer.concat([Buffer.alloc(200_000, "x"), form(oneFile())]),
    tooLarge("The body is larger than 167936 bytes"),
    { maxTotal: "100kb" },
  ],
  [
    "an epilogue larger than everything together may be",
    Buffer.concat([form(oneFile()), Buffer.alloc(200_000, "x")]),
    tooLarge("The body is larger than 167936 bytes"),
    { maxTotal: "100kb" },
  ],

  [
    "the type text/html",
    withFile({ type: "text/html" }),
    typeRefused('The file "0.png" has the type "text/html", which is not allowed'),
    LIMITS,
  ],
  [
    "the type image/",
    withFile({ type: "image/" }),
    typeRefused('The file "0.png" has the type "image/", which is not allowed'),
    LIMITS,
  ],
  [
    "the type image/*",
    withFile({ type: "image/*" }),
    typeRefused('The file "0.png" has the type "image/*", which is not allowed'),
    LIMITS,
  ],
  [
    "the type imagex/png",
    withFile({ type: "imagex/png" }),
    typeRefused('The file "0.png" has the type "imagex/png", which is not allowed'),
    LIMITS,
  ],
  [
    "a missing type",
    withFile({ headers: 'Content-Disposition: form-data; name="0"; filename="a.png"' }),
    typeRefused('The file "a.png" has no type, which is not allowed'),
    LIMITS,
  ],
  [
    "two types",
    withFile({ type: "image/png\r\nContent-Type: text/html" }),
    invalid("A part of the body repeats the header content-type"),
    LIMITS,
  ],
];

const ways: readonly [string, Receive][] = [
  ["from a stream", receiveStream],
  ["over a connection", receiveOverSocket],
];

describe.each(ways)("an upload %s is refused for", (_way, receive) => {
  it.each(rows)("%s", async (_title, body, expected, options, surroundings) => {
    expect(await receive(body, options, surroundings)).toMatchObject(expected);

    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});

it("is rejected for a path to an inherited property, even a null", async () => {
  Reflect.defineProperty(Object.prototype, "inherited", { value: null, writable: true, configurable: true });
  try {
    expect(await receiveStream(at("variables.inherited"))).toMatchObject(
      invalid('The path "variables.inherited" must point to a null in "operations"'),
    );
    expect(({} as Record<string, unknown>)["inherited"]).toBeNull();
  } finally {
    Reflect.deleteProperty(Object.prototype, "inherited");
  }
});

describe("the message of a rejection", () => {
  it("names file and type, shortened", async () => {
    const filename = `evil${"x".repeat(200)}`;

    const outcome = await receiveStream(withFile({ filename, type: "text/html" }), LIMITS);

    const { message } = outcome as { message: string };
    expect(message).toMatch(/^The file "evil.*\.\.\." has the type "text\/html", which is not allowed$/);
    expect(message.length).toBeLessThan(200);
  });

  it("names a part, shortened, and without characters that change or break the line", async () => {
    const name = `evil\u202E\u0007\u2028${"x".repeat(500)}`;

    const outcome = await receiveStream(
      withFile({ headers: `Content-Disposition: form-data; name="${name}"; filename="a.png"` }),
      LIMITS,
    );

    const { message } = outcome as { message: string };
    expect(message).toMatch(/^The part "evil.*\.\.\." is not listed in "map"$/);
    expect(message).toContain("\\u{202e}");
    expect(message).not.toMatch(/[\p{C}\p{Zl}]/u);
    expect(message.length).toBeLessThan(200);
  });

  it("reports a missing type", async () => {
    const outcome = await receiveStream(
      withFile({ headers: 'Content-Disposition: form-data; name="0"; filename="a.png"' }),
      LIMITS,
    );

    expect(outcome).toMatchObject({ message: 'The file "a.png" has no type, which is not allowed' });
  });
});

describe("a request that is refused by its headers", () => {
  const options = { uploads: uploadsOf({ maxTotal: 1000 }), maxBody: 1000, signal: new AbortController().signal };

  it.each([
    ["it announces too much", { "content-length": "2001" }, { status: 413 }],
    [
      "it is compressed",
      { "content-encoding": "gzip" },
      { status: 415, message: "The body must not be compressed, but its Content-Encoding is gzip" },
    ],
  ])("does not have its body read when %s", async (_title, headers, expected) => {
    const source = {
      headers: { "content-type": CONTENT_TYPE, ...headers },
      get stream(): Readable {
        throw new Error("the stream was asked for");
      },
    };

    await expect(receiveUpload(source, options)).rejects.toMatchObject(expected);
  });

  it("leaves the rest of the stream to others, and no listener on it or on the signal", async () => {
    const stream = new Readable({ read() {} });
    stream.push(form([file("0"), ...oneFile("x".repeat(100))]));
    const { signal } = new AbortController();
    const headers = { "content-type": CONTENT_TYPE };
    const before = stream.eventNames();

    await expect(receiveUpload({ stream, headers }, { ...options, signal })).rejects.toMatchObject({ status: 400 });

    expect(stream.destroyed).toBe(false);
    expect(stream.eventNames()).toEqual(before);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("reports that the body was already read", async () => {
    const stream = Readable.from([form(oneFile())], { objectMode: false });
    for await (const _ of stream);

    await expect(receiveUpload({ stream, headers: { "content-type": CONTENT_TYPE } }, options)).rejects.toThrow(
      "already read",
    );
  });
});

it("[ERR-10] [MPU-06] a file of a refused type is not read: the response comes before its content", async () => {
  const app = new PorticoApp({ logger: false });
  const uploads: UploadsOptions = { enabled: true, contentTypes: ["image/png"] };
  new Graph(schema({ query: { hello: field(t.string)(() => "world") } }), { uploads }).mount(app);
  const { port, close } = await liveClient(app);
  onTestFinished(close);
  const whole = form(oneFile("x".repeat(100_000), { type: "text/html" }));
  const connection = await rawConnection(port);
  onTestFinished(() => void connection.socket.destroy());

  connection.socket.write(
    `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nContent-Length: ${whole.length}\r\n\r\n`,
  );
  connection.socket.write(whole.subarray(0, whole.indexOf("xxx") + 1));

  expect(await connection.until("UPLOAD_TYPE_REFUSED")).toContain(" 400 ");
});
