import { Readable } from "node:stream";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { receiveUpload } from "../../../src/graphql/uploads/receive-upload.ts";
import type { UploadedFile } from "../../../src/graphql/uploads/uploaded-file.ts";
import { BOUNDARY, CONTENT_TYPE, file, form, map, operations } from "./multipart-form.ts";
import { bytesOf, MAX_BODY, uploadsOf } from "./receive.ts";

const fragment = fc.oneof(
  fc.integer({ min: 0, max: BOUNDARY.length + 3 }).map((length) => `\r\n--${BOUNDARY}`.slice(0, length)),
  fc.constantFrom("\r", "\n", "\r\n", "--", "-", "x", "\0"),
  fc.string({ maxLength: 8 }),
);
const content = fc
  .array(fragment, { maxLength: 30 })
  .map((fragments) => fragments.join("").replaceAll(`--${BOUNDARY}`, "--other"));

it("returns the same bytes however a body is split, and wherever they are stored", async () => {
  const cases = fc.record({
    contents: fc.tuple(content, content),
    sizes: fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
    spillAbove: fc.constantFrom(0, 10, 100, 10_000),
  });

  await fc.assert(
    fc.asyncProperty(cases, async ({ contents: [a, b], sizes, spillAbove }) => {
      const paths = map({ 0: ["variables.a"], 1: ["variables.b"] });
      const body = form([operations({ a: null, b: null }), paths, file("0", a), file("1", b)]);
      const received = await receiveUpload(
        { stream: Readable.from(cut(body, sizes), { objectMode: false }), headers: { "content-type": CONTENT_TYPE } },
        { uploads: uploadsOf({ spillAbove }), maxBody: MAX_BODY, signal: new AbortController().signal },
      );

      const files = Object.values((received.operations as Record<"variables", Record<string, UploadedFile>>).variables);
      const texts = await Promise.all(files.map(async (upload) => (await bytesOf(upload.stream())).toString("utf8")));
      await received.dispose();

      expect(texts).toEqual([a, b]);
    }),
    { numRuns: 300 },
  );
});

function* cut(body: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let start = 0, turn = 0; start < body.length; turn++) {
    const size = sizes[turn % sizes.length] as number;
    yield body.subarray(start, start + size);
    start += size;
  }
}
