import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { BOUNDARY, file, form, map, oneFile, operations } from "./multipart-form.ts";
import { digestOf, type Receive, receiveOverSocket, receiveStream } from "./receive.ts";

const ways: readonly [string, Receive][] = [
  ["from a stream", receiveStream],
  ["over a connection", receiveOverSocket],
];

describe.each(ways)("an upload that is received %s", (_way, receive) => {
  it("has its file in place of the null, and its other variables unchanged", async () => {
    const parts = [operations({ f: null, n: 1, text: "ü" }), map({ 0: ["variables.f"] }), file("0", "hello")];

    const outcome = await receive(form(parts));

    const f = { filename: "0.png", contentType: "image/png", size: 5, digest: digestOf("hello") };
    expect(outcome).toEqual({ variables: { f, n: 1, text: "ü" } });
  });

  it("has files in lists and below objects, one of them in several places", async () => {
    const parts = [
      operations({ fs: [null, null], in: { cover: null }, again: null }),
      map({ a: ["variables.fs.1", "variables.in.cover"], b: ["variables.fs.0", "variables.again"] }),
      file("a", "first"),
      file("b", "second"),
    ];

    const outcome = await receive(form(parts));

    const a = expect.objectContaining({ digest: digestOf("first") });
    const b = expect.objectContaining({ digest: digestOf("second") });
    expect(outcome).toEqual({ variables: { fs: [b, a], in: { cover: a }, again: b } });
  });

  it("may have no file at all, and a file may be empty", async () => {
    expect(await receive(form([operations({ n: 1 }), map({})]))).toEqual({ variables: { n: 1 } });
    expect(await receive(form(oneFile("")))).toMatchObject({ variables: { f: { size: 0, digest: digestOf("") } } });
  });

  it("has the exact bytes of a file, also those that look like a boundary", async () => {
    const content = Buffer.concat([
      Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}\r\n\r\n--\r\n\r\r\n-`),
      randomBytes(200_000),
      Buffer.from("\r\n--portico-bound\r\n--"),
    ]);

    expect(await receive(form(oneFile(content)))).toMatchObject({ variables: { f: { digest: digestOf(content) } } });
  });

  it("is the same from memory and from disk, at the threshold and one byte over", async () => {
    const content = randomBytes(10_000);
    const sum = {
      variables: { f: { filename: "0.png", contentType: "image/png", size: 10_000, digest: digestOf(content) } },
    };

    expect(await receive(form(oneFile(content)), { spillAbove: 10_000 })).toEqual(sum);
    expect(await receive(form(oneFile(content)), { spillAbove: 9_999 })).toEqual(sum);
    expect(await receive(form(oneFile(content)), { spillAbove: 0 })).toEqual(sum);
  });

  it.each([10, 100_000])("may have %d characters before the first boundary and after the last", async (length) => {
    const text = Buffer.from(`${"x".repeat(length)}\r\n`);

    expect(await receive(Buffer.concat([text, form(oneFile("x")), text]))).toMatchObject({
      variables: { f: { size: 1 } },
    });
  });

  it("may have part headers of 16 KiB", async () => {
    const start = 'Content-Disposition: form-data; name="0"\r\nX-Long: ';
    const headers = `${start}${"x".repeat(16_384 - start.length)}`;

    expect(await receive(form(oneFile("x", { headers })))).toMatchObject({ variables: { f: { size: 1 } } });
  });

  it.each([
    ["IMAGE/PNG", "image/png"],
    ["image/png; x=y", "image/png"],
    ["image/webp", "image/webp"],
  ])("allows the type %s by its family", async (type, contentType) => {
    const outcome = await receive(form(oneFile("<svg>", { type })), { contentTypes: ["image/*"] });

    expect(outcome).toMatchObject({ variables: { f: { contentType, size: 5 } } });
  });

  it.each(["text/plain", "image/png"])("allows the type %s if one entry of the list allows it", async (type) => {
    const outcome = await receive(form(oneFile("x", { type })), { contentTypes: ["image/*", "text/plain"] });

    expect(outcome).toMatchObject({ variables: { f: { contentType: type } } });
  });

  it("accepts a file without a type if all types are allowed", async () => {
    const headers = 'Content-Disposition: form-data; name="0"';

    const outcome = await receive(form(oneFile("x", { headers })));

    expect(outcome).toMatchObject({ variables: { f: { filename: "", contentType: "application/octet-stream" } } });
  });

  it.each([
    ["../../etc/passwd", "passwd"],
    ["C:\\\\Users\\\\me\\\\a.png", "a.png"],
    ["..", ""],
    ["a/.", ""],
    ["...", "..."],
    ["", ""],
    ["naïve 日本.png", "naïve 日本.png"],
    ["a%22b.png", 'a"b.png'],
    ['a\\"b.png', 'a"b.png'],
    ["\u200F\u0635\u0648\u0631\u0629.png", "\u200F\u0635\u0648\u0631\u0629.png"],
    ["👩\u200D💻.png", "👩\u200D💻.png"],
    [`${"x".repeat(251)}.png`, `${"x".repeat(251)}.png`],
  ])("treats the file name %j as data", async (sent, filename) => {
    const outcome = await receive(form(oneFile("x", { filename: sent })));

    expect(outcome).toMatchObject({ variables: { f: { filename } } });
  });

  it.each([
    'filename="a\0.png"',
    'filename="a%0D%0ASet-Cookie: x=1.png"',
    'filename="a%0a.png"',
    "filename*=UTF-8''%00x",
    "filename*=UTF-8''%1b%5b2J",
    "filename*=UTF-8''a%C2%9B31m.png",
    "filename*=UTF-8''a%E2%80%AEgnp.exe",
    "filename*=UTF-8''a%E2%81%A6b",
    "filename*=UTF-8''a%E2%80%A8b",
    "filename*=UTF-8''%EF%BB%BFa",
  ])("refuses the file name in %j, which no file of a person has", async (parameter) => {
    const headers = `Content-Disposition: form-data; name="0"; ${parameter}`;

    await expect(receive(form(oneFile("x", { headers })))).resolves.toMatchObject({
      status: 400,
      code: "FILE_NAME_INVALID",
    });
  });

  it("refuses a file name of 256 characters", async () => {
    await expect(receive(form(oneFile("x", { filename: "x".repeat(256) })))).resolves.toMatchObject({
      status: 400,
      code: "FILE_NAME_INVALID",
      message: "The name of a file is longer than 255 characters",
    });
  });

  it.each(["UTF-8''", "utf-8'en'"])("reads a file name in the extended notation, after %s", async (start) => {
    const headers = `Content-Disposition: form-data; name="0"; filename="x"; filename*=${start}na%C3%AFve.txt`;

    expect(await receive(form(oneFile("x", { headers })))).toMatchObject({
      variables: { f: { filename: "naïve.txt" } },
    });
  });

  it.each(["iso-8859-1''na%EFve.txt", "UTF-8''%ff", "UTF-8'x", "x UTF-8''y"])(
    "reads the plain file name instead of the extended one %s",
    async (extended) => {
      const headers = `Content-Disposition: form-data; name="0"; filename="plain.txt"; filename*="${extended}"`;

      expect(await receive(form(oneFile("x", { headers })))).toMatchObject({
        variables: { f: { filename: "plain.txt" } },
      });
    },
  );

  it("may have one path for each allowed file and 256 more, of up to 64 segments", async () => {
    const paths = Array.from({ length: 256 + 1 }, (_, index) => `variables.fs.${index}`);
    const deep = `variables${".x".repeat(63)}`;
    const nest = (depth: number): unknown => (depth === 0 ? null : { x: nest(depth - 1) });

    const wide = form([operations({ fs: paths.map(() => null) }), map({ 0: paths }), file("0", "x")]);
    expect(await receive(wide, { maxFiles: 1 })).toHaveProperty("variables.fs.256.size", 1);
    const nested = form([operations(nest(63)), map({ 0: [deep] }), file("0", "x")]);
    expect(await receive(nested)).toHaveProperty(`${deep}.size`, 1);
  });

  it("may reach each limit", async () => {
    const parts = [
      operations({ a: null, b: null }),
      map({ 0: ["variables.a"], 1: ["variables.b"] }),
      file("0", randomBytes(1000)),
      file("1", randomBytes(500)),
    ];
    const maxBody = (parts[0]?.content.length as number) + (parts[1]?.content.length as number);
    const body = form(parts);
    const limits = { maxSize: 1000, maxFiles: 2, maxTotal: body.length - maxBody };

    expect(await receive(body, limits, { maxBody })).toMatchObject({
      variables: { a: { size: 1000 }, b: { size: 500 } },
    });
    expect(await receive(body, { ...limits, maxTotal: 1500 })).toHaveProperty("variables");
  });
});
