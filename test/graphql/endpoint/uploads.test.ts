import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { type FileHandle, mkdir, open as openFile, rmdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  field,
  type GraphOptions,
  mutation,
  printSchema,
  schema,
  t,
  type Upload,
  Uploads,
  type UploadsOptions,
} from "portico/graphql";
import type { LiveClient, TestResponse } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { flood, rawConnection } from "../../http/raw-connection.ts";
import { CONTENT_TYPE, type FormPart, file, form, json, map, oneFile, operations } from "../uploads/multipart-form.ts";
import { bodyOf, codesOf, open, openSchema, verdictOf } from "./open.ts";

const hashOf = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
const described = async (upload: Upload): Promise<string> =>
  `${hashOf(await new Response(upload.stream()).bytes())} ${upload.contentType} ${upload.size}`;

/** Tells of every file what a resolver can know; `seen` holds what ran. */
function archive(whileOpen: () => unknown = () => undefined) {
  const seen: unknown[] = [];
  const tell = async (uploads: readonly (Upload | null)[]): Promise<string> => {
    seen.push(whileOpen());
    return (await Promise.all(uploads.map(async (upload) => (upload === null ? "none" : described(upload))))).join(
      ", ",
    );
  };
  const add = mutation(t.string, { params: { title: t.nullable(t.string), file: t.upload } })(
    async ({ title, file }) => `${title ?? ""} ${await tell([file])}`,
  );
  const addAll = mutation(t.string, { params: { files: t.list(t.nullable(t.upload)) } })(({ files }) => tell(files));
  return { seen, types: schema({ query: { ping: field(t.string)(() => "pong") }, mutation: { add, addAll } }) };
}

const ADD = "mutation ($title: String, $file: Upload!) { add(title: $title, file: $file) }";
const ADD_ALL = "mutation ($files: [Upload]!) { addAll(files: $files) }";
const one = (content: string | Uint8Array = "content", rest: Partial<FormPart> = {}): readonly FormPart[] => [
  json("operations", { query: ADD, variables: { title: "T", file: null } }),
  map({ 0: ["variables.file"] }),
  file("0", content, rest),
];
const several = (...contents: readonly (string | Uint8Array)[]): readonly FormPart[] => [
  json("operations", { query: ADD_ALL, variables: { files: contents.map(() => null) } }),
  map(Object.fromEntries(contents.map((_, n) => [n, [`variables.files.${n}`]]))),
  ...contents.map((content, n) => file(String(n), content)),
];
const send = (client: LiveClient, parts: readonly FormPart[]): Promise<TestResponse> =>
  client.post("/graphql", { headers: { "content-type": CONTENT_TYPE }, body: form(parts) });

/** An archive that accepts uploads, with a separate directory for them. */
async function openArchive(uploads: UploadsOptions = {}, options: GraphOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), "portico-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const { seen, types } = archive(() => openFilesIn(directory));
  const { client } = await openSchema(types, {
    uploads: new Uploads({ enabled: true, directory, ...uploads }),
    ...options,
  });
  return { client, seen, directory };
}

/** How many files of a directory this process has open, those without a name included; Linux tells. */
function openFilesIn(directory: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory);
    } catch {
      return false;
    }
  }).length;
}

describe("uploads", () => {
  it("[UPL-01] [UPL-10] are off by default: multipart is 415, and runs nothing", async () => {
    const { client, ran } = await open();

    const answer = await send(client, oneFile());

    expect([verdictOf(answer), ran]).toEqual([[415, "UNSUPPORTED_MEDIA_TYPE"], {}]);
  });

  it("[UPL-02] [UPL-15] [MPU-04] reach the resolver when they are on, byte for byte, with their type and size", async () => {
    const { client } = await openArchive();
    const content = randomBytes(70_001);

    const answer = await send(client, one(content, { type: "image/png" }));

    expect([answer.status, bodyOf(answer).data]).toEqual([200, { add: `T ${hashOf(content)} image/png 70001` }]);
  });

  it("[UPL-03] [UPL-09] have a maximum size each", async () => {
    const { client, seen } = await openArchive({ maxSize: "1kb" });

    const answers = [await send(client, one("x".repeat(1024))), await send(client, one("x".repeat(1025)))];

    expect(answers.map(verdictOf)).toEqual([[200], [413, "PAYLOAD_TOO_LARGE"]]);
    expect(seen).toHaveLength(1);
  });

  it("[UPL-04] [UPL-09] have a maximum number", async () => {
    const { client, seen } = await openArchive({ maxFiles: 2 });

    const answers = [await send(client, several("a", "b")), await send(client, several("a", "b", "c"))];

    expect(answers.map(verdictOf)).toEqual([[200], [413, "PAYLOAD_TOO_LARGE"]]);
    expect(seen).toHaveLength(1);
  });

  it("[UPL-05] [UPL-09] have a maximum total size", async () => {
    const { client, seen } = await openArchive({ maxSize: "1kb", maxTotal: "2kb" });
    const full = "x".repeat(1024);

    const answers = [await send(client, several(full, full)), await send(client, several(full, full, "y"))];

    expect(answers.map(verdictOf)).toEqual([[200], [413, "PAYLOAD_TOO_LARGE"]]);
    expect(seen).toHaveLength(1);
  });

  it.each<[string, UploadsOptions["contentTypes"], readonly string[], readonly string[]]>([
    [
      "[UPL-06] an exact type",
      ["image/png"],
      ["image/png", "IMAGE/PNG; q=1"],
      ["application/pdf", "image/webp", "image/png2", ""],
    ],
    ["[UPL-07] a family", ["image/*"], ["image/png", "image/webp"], ["text/plain", "imagex/png", "image", ""]],
    ["[UPL-08] nothing, which allows everything", [], ["image/png", "application/pdf", "text/plain", ""], []],
  ])("%s decides whether the type of a file is allowed", async (_title, contentTypes, taken, refused) => {
    const { client } = await openArchive({ contentTypes: contentTypes ?? [] });
    const status = async (type: string) =>
      (
        await send(
          client,
          one("x", type === "" ? { headers: 'Content-Disposition: form-data; name="0"; filename="a"' } : { type }),
        )
      ).status;

    expect(await Promise.all(taken.map(status))).toEqual(taken.map(() => 200));
    expect(await Promise.all(refused.map(status))).toEqual(refused.map(() => 400));
  });

  it("[ERR-10] of a type that is not allowed are 400, and the message names the file and its type", async () => {
    const { client, seen } = await openArchive({ contentTypes: ["image/*"] });

    const answer = await send(client, one("x", { filename: "a.pdf", type: "application/pdf" }));

    expect(verdictOf(answer)).toEqual([400, "UPLOAD_TYPE_REFUSED"]);
    expect(bodyOf(answer).errors?.[0]?.message).toMatch(/"a\.pdf".*"application\/pdf"/);
    expect([bodyOf(answer).data, seen]).toEqual([undefined, []]);
  });

  it("[UPL-11] allow a body of up to maxTotal plus maxBody", async () => {
    const { client } = await openArchive({ maxTotal: "64kb", maxSize: "64kb" }, { transport: { maxBody: "4kb" } });
    const announced = await rawConnection(client.port);

    const fits = await send(client, one("x".repeat(64 * 1024)));
    announced.socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nContent-Length: ${68 * 1024 + 1}\r\n\r\n`,
    );

    expect(fits.status).toBe(200);
    expect(await announced.until("PAYLOAD_TOO_LARGE")).toMatch(/^HTTP\/1\.1 413 /);
    announced.socket.destroy();
  });

  it("[UPL-12] have text parts of up to maxBody", async () => {
    const { client } = await openArchive({}, { transport: { maxBody: "1kb" } });
    const mapped = JSON.stringify({ 0: ["variables.file"] });
    const padded = (bytes: number): FormPart => {
      const empty = { query: ADD, variables: { title: "", file: null } };
      const title = "x".repeat(bytes - JSON.stringify(empty).length - mapped.length);
      return json("operations", { ...empty, variables: { title, file: null } });
    };
    const parts = (bytes: number) => [padded(bytes), { name: "map", content: mapped }, file("0", "x")];

    const answers = [await send(client, parts(1024)), await send(client, parts(1025)), await send(client, parts(4096))];

    expect(answers.map(({ status }) => status)).toEqual([200, 413, 413]);
  });

  it("[UPL-13] run nothing when one of them is rejected, and leave nothing behind", async () => {
    const { client, seen, directory } = await openArchive({ maxSize: "1kb", spillAbove: "1b" });

    const answer = await send(client, several("a".repeat(1024), "b".repeat(1024), "c".repeat(1025)));

    expect([answer.status, seen]).toEqual([413, []]);
    expect([openFilesIn(directory), readdirSync(directory)]).toEqual([0, []]);
  });

  it("[UPL-14] are stored in memory up to a threshold and on disk above it, and are deleted after the response", async () => {
    const { client, seen, directory } = await openArchive({ spillAbove: "64kb" });
    const [small, large] = [randomBytes(64 * 1024), randomBytes(64 * 1024 + 1)];
    const before = [openFilesIn(directory), readdirSync(directory)];

    const answers = [await send(client, one(small)), await send(client, one(large))];

    expect(answers.map((answer) => bodyOf(answer).data?.["add"])).toEqual([
      `T ${hashOf(small)} image/png ${small.length}`,
      `T ${hashOf(large)} image/png ${large.length}`,
    ]);
    expect(seen).toEqual([0, 1]);
    expect(before).toEqual([0, []]);
    expect([openFilesIn(directory), readdirSync(directory)]).toEqual([0, []]);
  });

  it("[LIM-18] may have 10 MiB each by default", async () => {
    const { client } = await openArchive();

    const answers = [
      await send(client, one(Buffer.alloc(10 * 1024 ** 2))),
      await send(client, one(Buffer.alloc(10 * 1024 ** 2 + 1))),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 413]);
  });

  it("[LIM-19] may be ten by default", async () => {
    const { client } = await openArchive();
    const files = (count: number) => several(...Array.from({ length: count }, (_, n) => String(n)));

    const answers = [await send(client, files(10)), await send(client, files(11))];

    expect(answers.map(({ status }) => status)).toEqual([200, 413]);
  });

  it("[LIM-20] may have 50 MiB together by default", async () => {
    const { client } = await openArchive();
    const full = Array.from({ length: 5 }, () => Buffer.alloc(10 * 1024 ** 2));

    const answers = [await send(client, several(...full)), await send(client, several(...full, "x"))];

    expect(answers.map(({ status }) => status)).toEqual([200, 413]);
  });
});

describe("a multipart request", () => {
  it("[MPU-01] [MPU-02] runs operations with the files in place of the nulls", async () => {
    const { client } = await openArchive();
    const parts = [
      json("operations", { query: ADD, variables: { title: "Middlemarch", file: null } }),
      map({ scan: ["variables.file"] }),
      file("scan", "pages"),
    ];

    const answer = await send(client, parts);

    expect([answer.status, bodyOf(answer).data]).toEqual([200, { add: `Middlemarch ${hashOf("pages")} image/png 5` }]);
  });

  it("[MPU-03] has paths into lists", async () => {
    const { client } = await openArchive();
    const parts = [
      json("operations", { query: ADD_ALL, variables: { files: [null, null, null] } }),
      map({ x: ["variables.files.1"] }),
      file("x", "second"),
    ];

    const answer = await send(client, parts);

    expect(bodyOf(answer).data).toEqual({ addAll: `none, ${hashOf("second")} image/png 6, none` });
  });

  it("[MPU-05] may put one file in several places", async () => {
    const { client } = await openArchive();
    const parts = [
      json("operations", { query: ADD_ALL, variables: { files: [null, null] } }),
      map({ x: ["variables.files.0", "variables.files.1"] }),
      file("x", "same"),
    ];

    const answer = await send(client, parts);

    const same = `${hashOf("same")} image/png 4`;
    expect(bodyOf(answer).data).toEqual({ addAll: `${same}, ${same}` });
  });

  /** Begins an upload over a bare connection: everything up to the content of the first file. */
  async function begin(client: LiveClient, parts: readonly FormPart[], length: number) {
    const connection = await rawConnection(client.port);
    connection.socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nContent-Length: ${length}\r\n\r\n`,
    );
    connection.socket.write(form(parts, "\r\n"));
    return connection;
  }
  const FILE_HEAD = 'Content-Disposition: form-data; name="0"; filename="large.bin"\r\nContent-Type: image/png\r\n\r\n';

  it("[MPU-06] is rejected as soon as a file exceeds a limit: the rest is not read", async () => {
    const { client, seen, directory } = await openArchive({ maxSize: "1mb", maxTotal: "1gb" });
    const connection = await begin(client, one().slice(0, 2), 500 * 1024 ** 2);
    connection.socket.write(FILE_HEAD);

    const sent = await flood(connection, Buffer.alloc(65_536), 8_000);

    expect(await connection.until("PAYLOAD_TOO_LARGE")).toMatch(/^HTTP\/1\.1 413 /);
    expect(sent).toBeLessThan(30 * 1024 ** 2);
    expect([seen, openFilesIn(directory)]).toEqual([[], 0]);
  });

  it("[MPU-07] that announces too many files is rejected before a file is read", async () => {
    const { client, seen } = await openArchive({ maxFiles: 2 });

    const connection = await begin(client, several("a", "b", "c").slice(0, 2), 1024 ** 2);

    expect(await connection.until("PAYLOAD_TOO_LARGE")).toMatch(/^HTTP\/1\.1 413 /);
    expect(connection.received()).toContain("3 files");
    expect(seen).toEqual([]);
    connection.socket.destroy();
  });

  it("[MPU-08] fills variables of the scalar Upload", async () => {
    const { client } = await openArchive();

    const answer = await send(client, one("x"));
    const text = await send(client, [json("operations", { query: ADD, variables: { file: "no file" } }), map({})]);

    expect([answer.status, verdictOf(text)]).toEqual([200, [400, "BAD_USER_INPUT"]]);
    expect(printSchema(archive().types)).toContain("scalar Upload");
  });

  it.each([
    ["not JSON", "{oops"],
    ["not an object", "[]"],
    ["null", "null"],
    ["without a list", '{"0":"variables.file"}'],
    ["with a path that is no string", '{"0":[1]}'],
    ["with an empty list", '{"0":[]}'],
  ])("[MPU-09] with a map that is %s is 400", async (_title, content) => {
    const { client, seen } = await openArchive();
    const [operations] = one();

    const answer = await send(client, [operations as FormPart, { name: "map", content }, file("0", "x")]);

    expect([verdictOf(answer), seen]).toEqual([[400, "UPLOAD_INVALID"], []]);
  });

  it.each([
    "variables.nope.3",
    "variables.file.0",
    "variables.nope",
    "query",
    "variables",
    "",
    "variables.__proto__.x",
    "variables.constructor",
  ])("[MPU-10] with the path %j, which leads nowhere, is 400", async (path) => {
    const { client, seen } = await openArchive();
    const [operations] = one();

    const answer = await send(client, [operations as FormPart, map({ 0: [path] }), file("0", "x")]);

    expect([verdictOf(answer), seen]).toEqual([[400, "UPLOAD_INVALID"], []]);
  });

  it("[MPU-11] of a client that disconnects halfway runs nothing and leaves no file", async () => {
    const { client, seen, directory } = await openArchive({ spillAbove: "1b" });
    const connection = await begin(client, one().slice(0, 2), 10 * 1024 ** 2);
    connection.socket.write(FILE_HEAD);
    await flood(connection, Buffer.alloc(65_536), 80);
    while (openFilesIn(directory) === 0) await sleep(5);

    connection.socket.destroy();

    while (openFilesIn(directory) > 0) await sleep(5);
    expect([seen, readdirSync(directory)]).toEqual([[], []]);
  });

  it.each([
    ["in memory", "1mb"],
    ["on disk", "1b"],
  ] as const)("can be a batch: each operation has its files, %s, until the last has ended", async (_, spillAbove) => {
    const { client, directory } = await openArchive({ spillAbove });

    const answer = await send(client, [
      json("operations", [
        { query: ADD, variables: { title: "A", file: null } },
        { query: "{ nope }" },
        { query: ADD_ALL, variables: { files: [null, null] } },
      ]),
      map({ 0: ["0.variables.file", "2.variables.files.1"], 1: ["2.variables.files.0"] }),
      file("0", "first"),
      file("1", "second"),
    ]);

    const [first, second] = ["first", "second"].map((text) => `${hashOf(text)} image/png ${text.length}`);
    expect(bodyOf(answer)).toMatchObject([
      { data: { add: `A ${first}` } },
      { errors: [{ extensions: { code: "GRAPHQL_VALIDATION_FAILED" } }] },
      { data: { addAll: `${second}, ${first}` } },
    ]);
    expect([openFilesIn(directory), readdirSync(directory)]).toEqual([0, []]);
  });

  it("cannot be a batch if batches are disabled", async () => {
    const { client, seen } = await openArchive({}, { transport: { batch: 0 } });

    const answer = await send(client, [
      json("operations", [{ query: ADD, variables: { file: null } }]),
      map({ 0: ["0.variables.file"] }),
      file("0", "x"),
    ]);

    expect([codesOf(answer), seen]).toEqual([["BATCH_REFUSED"], []]);
  });

  it("with a rejected document deletes its files", async () => {
    const { client, seen, directory } = await openArchive({ spillAbove: "1b" });

    const answer = await send(client, [
      operations({ f: null }),
      map({ 0: ["variables.f"] }),
      file("0", "x".repeat(100)),
    ]);

    expect(verdictOf(answer)).toEqual([400, "GRAPHQL_VALIDATION_FAILED"]);
    expect([seen, openFilesIn(directory)]).toEqual([[], 0]);
  });
});

describe("a disk that fails during an upload", () => {
  it.each(["ENOSPC", "EDQUOT", "EROFS", "EIO", "ENODEV", "ESTALE"])(
    "is 503 with Retry-After (%s), and the next upload works when the disk works",
    async (code) => {
      const { client } = await openArchive({ spillAbove: 0 });
      const handle = await openFile(new URL(import.meta.url));
      await handle.close();
      const failure = Object.assign(new Error(`${code}: write`), { code });
      const write = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, "write").mockRejectedValue(failure);
      onTestFinished(() => write.mockRestore());

      const refused = await send(client, one());
      write.mockRestore();
      const taken = await send(client, one());

      expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
      expect(bodyOf(refused).errors).toMatchObject([{ extensions: { code: "SERVICE_UNAVAILABLE", retryAfter: 1 } }]);
      expect(refused.text()).not.toContain(code);
      expect(taken.status).toBe(200);
    },
  );

  it("is 503 as well if the directory is gone", async () => {
    const { client, directory } = await openArchive({ spillAbove: 0 });
    await rmdir(directory);

    const refused = await send(client, one());
    await mkdir(directory);
    const taken = await send(client, one());

    expect(refused).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
    expect(refused.text()).not.toContain(directory);
    expect(taken.status).toBe(200);
  });
});
