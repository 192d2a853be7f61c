import { type ChildProcess, fork } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CONTENT_TYPE, form, oneFile } from "./multipart-form.ts";

const MIB = 1024 ** 2;

let server: ChildProcess;
let port: number;
beforeAll(async () => {
  server = fork(new URL("./fixtures/large-upload.ts", import.meta.url), { stdio: "inherit" });
  [port] = (await once(server, "message")) as [number];
  // The first request compiles and allocates what stays: not what is measured.
  await upload([Buffer.alloc(2 * MIB)]);
});
afterAll(async () => {
  server.disconnect();
  await once(server, "exit");
});

interface Answer {
  readonly size: number;
  readonly digest: string;
  readonly grownBytes: number;
}

async function upload(pieces: Iterable<Buffer>, headers: Record<string, string> = {}): Promise<Answer> {
  const whole = form(oneFile(""));
  const end = whole.lastIndexOf("\r\n--");
  const outgoing = httpRequest({
    port,
    method: "POST",
    path: "/up",
    headers: { "content-type": CONTENT_TYPE, ...headers },
  });
  const answered = once(outgoing, "response") as Promise<[IncomingMessage]>;
  function* body(): Generator<Buffer> {
    yield whole.subarray(0, end);
    yield* pieces;
    yield whole.subarray(end);
  }
  await pipeline(Readable.from(body(), { objectMode: false }), outgoing);
  const [incoming] = await answered;
  return JSON.parse(await text(incoming)) as Answer;
}

describe("the memory of a server", () => {
  it("grows by less than 30 MB while 200 MB are received and read", async () => {
    const piece = randomBytes(MIB);
    const hash = createHash("sha256");
    function* pieces(): Generator<Buffer> {
      for (let count = 0; count < 200; count++) {
        hash.update(piece);
        yield piece;
      }
    }

    const answer = await upload(pieces());

    expect(answer).toMatchObject({ size: 200 * MIB, digest: hash.digest("base64url") });
    expect(answer.grownBytes).toBeLessThan(30 * 1000 ** 2);
  });

  it("does not grow more for a file that arrives byte by byte", async () => {
    const piece = Buffer.from("x");
    function* pieces(): Generator<Buffer> {
      for (let count = 0; count < 300_000; count++) yield piece;
    }

    const answer = await upload(pieces());

    expect(answer.size).toBe(300_000);
    expect(answer.grownBytes).toBeLessThan(30 * 1000 ** 2);
  });
});
