import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { type ReceivedUpload, receiveUpload } from "../../../src/graphql/uploads/receive-upload.ts";
import type { UploadedFile } from "../../../src/graphql/uploads/uploaded-file.ts";
import { CONTENT_TYPE, file, form, map, oneFile, operations } from "./multipart-form.ts";
import { bytesOf, MAX_BODY, uploadsOf } from "./receive.ts";
import { leftIn, temporaryDirectory } from "./temporary-directory.ts";

async function receive(body: Buffer, spillAbove: number, directory = temporaryDirectory()): Promise<ReceivedUpload> {
  return receiveUpload(
    { stream: Readable.from([body], { objectMode: false }), headers: { "content-type": CONTENT_TYPE } },
    { uploads: uploadsOf({ spillAbove, directory }), maxBody: MAX_BODY, signal: new AbortController().signal },
  );
}

function filesOf({ operations }: ReceivedUpload): Record<string, UploadedFile> {
  return (operations as Record<"variables", Record<string, UploadedFile>>).variables;
}

const content = randomBytes(300_000);
const places: readonly [string, number][] = [
  ["in memory", 1024 ** 2],
  ["on disk", 0],
];

describe.each(places)("a file %s", (_place, spillAbove) => {
  it("can be read several times, also at once", async () => {
    const received = await receive(form(oneFile(content)), spillAbove);
    const { f } = filesOf(received);
    if (f === undefined) throw new Error("there is no file");

    const copies = await Promise.all([bytesOf(f.stream()), bytesOf(f.stream())]);
    copies.push(await bytesOf(f.stream()));
    await received.dispose();

    for (const copy of copies) expect(copy.equals(content)).toBe(true);
  });

  it("has nothing to read if it is empty", async () => {
    const received = await receive(form(oneFile("")), spillAbove);
    const { f } = filesOf(received);

    const first = await f?.stream().getReader().read();
    await received.dispose();

    expect(first).toEqual({ done: true, value: undefined });
  });

  it("has its own bytes only, between those of others", async () => {
    const pieces = [content.subarray(0, 10_000), content.subarray(10_000, 30_000), content.subarray(30_000, 30_001)];
    const received = await receive(
      form([
        operations({ a: null, b: null, c: null }),
        map({ 0: ["variables.a"], 1: ["variables.b"], 2: ["variables.c"] }),
        ...pieces.map((piece, index) => file(String(index), piece)),
      ]),
      spillAbove,
    );

    const copies = await Promise.all(Object.values(filesOf(received)).map((upload) => bytesOf(upload.stream())));
    await received.dispose();

    expect(copies.map((copy, index) => copy.equals(pieces[index] ?? copy.subarray(1)))).toEqual([true, true, true]);
  });

  it("keeps its bytes when a reader changes its copy", async () => {
    const received = await receive(form(oneFile("content")), spillAbove);
    const { f } = filesOf(received);

    const first = await f?.stream().getReader().read();
    first?.value?.fill(0);
    const again = await bytesOf((f as UploadedFile).stream());
    await received.dispose();

    expect(again.toString()).toBe("content");
  });

  it("is one file in all the places that it is mapped to", async () => {
    const paths = ["variables.a", "variables.b"];
    const received = await receive(form([operations({ a: null, b: null }), map({ 0: paths }), file("0")]), spillAbove);

    const { a, b } = filesOf(received);
    await received.dispose();

    expect(a).toBe(b);
  });

  it("cannot be read after it has been disposed; open streams then fail", async () => {
    const received = await receive(form(oneFile(content)), spillAbove);
    const { f } = filesOf(received);
    const reader = f?.stream().getReader();
    await reader?.read();
    const reading = Promise.allSettled([reader?.read(), reader?.read()]);

    await received.dispose();
    await received.dispose();

    expect(() => f?.stream()).toThrow("only until its operation has ended");
    const [last] = (await reading).slice(-1);
    expect(last).toMatchObject({
      status: "rejected",
      reason: { message: expect.stringContaining("until its operation") },
    });
    await expect(reader?.closed).rejects.toThrow("until its operation");
  });

  it("leaves nothing behind when it is not read, or not to the end", async () => {
    const directory = temporaryDirectory();
    const received = await receive(form(oneFile(content)), spillAbove, directory);
    const { f } = filesOf(received);
    await f?.stream().cancel();
    f?.stream();

    await received.dispose();

    expect(leftIn(directory)).toEqual([]);
  });
});

describe("the storage of files", () => {
  const parts = [
    operations({ a: null, b: null, c: null }),
    map({ 0: ["variables.a"], 1: ["variables.b"], 2: ["variables.c"] }),
    file("0", content.subarray(0, 600)),
    file("1", content.subarray(0, 600)),
    file("2", content.subarray(0, 400)),
  ];

  it("is memory up to the threshold, which the files of a request share", async () => {
    const directory = temporaryDirectory();

    const received = await receive(form(parts), 1600, directory);
    const left = leftIn(directory);
    await received.dispose();

    expect(left).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "is one file without a name beyond it, which goes with the request",
    async () => {
      const directory = temporaryDirectory();

      const received = await receive(form(parts), 1000, directory);
      const left = leftIn(directory);
      const sizes = await Promise.all(
        Object.values(filesOf(received)).map(async (upload) => (await bytesOf(upload.stream())).length),
      );
      await received.dispose();

      expect(left).toEqual([expect.stringMatching(/portico-[0-9a-f]{32} \(deleted\)$/)]);
      expect(sizes).toEqual([600, 600, 400]);
      expect(leftIn(directory)).toEqual([]);
    },
  );

  it("is freed when the upload is rejected later", async () => {
    const directory = temporaryDirectory();

    const refused = receive(
      form([...parts.slice(0, 3), file("1", randomBytes(200_000), { name: "unknown" })]),
      0,
      directory,
    );

    await expect(refused).rejects.toMatchObject({ code: "UPLOAD_INVALID" });
    expect(leftIn(directory)).toEqual([]);
  });
});
