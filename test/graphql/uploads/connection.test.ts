import { randomBytes } from "node:crypto";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { HttpException, PorticoApp } from "portico";
import { type LiveClient, liveClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { receiveUpload } from "../../../src/graphql/uploads/receive-upload.ts";
import type { UploadsOptions } from "../../../src/graphql/uploads/uploads.ts";
import { flood, type RawConnection, rawConnection } from "../../http/raw-connection.ts";
import { BOUNDARY, CONTENT_TYPE, form, map, oneFile, operations } from "./multipart-form.ts";
import { MAX_BODY, uploadsOf } from "./receive.ts";
import { leftIn, temporaryDirectory } from "./temporary-directory.ts";

const MIB = 1024 ** 2;
const CLOSING_BYTES = `\r\n--${BOUNDARY}--\r\n`.length;

interface UploadServer {
  readonly port: number;
  /** The result of each request: `received`, or the code of its error. */
  readonly outcomes: string[];
  /** How many requests have begun. One whose client disconnects before its turn never does. */
  readonly begun: () => number;
}

let client: LiveClient | undefined;
afterEach(async () => {
  await client?.close();
  client = undefined;
});

async function start(options: UploadsOptions, requestSeconds = 60): Promise<UploadServer> {
  const outcomes: string[] = [];
  let begun = 0;
  const timeouts = { headersSeconds: Math.min(requestSeconds, 15), requestSeconds };
  const app = new PorticoApp({ logger: false, timeouts });
  const uploads = uploadsOf(options);
  app.post("/up", { timeoutSeconds: 0.2 }, async ({ request }) => {
    begun++;
    try {
      const { dispose } = await receiveUpload(request, { uploads, maxBody: MAX_BODY, signal: request.signal });
      await dispose();
      outcomes.push("received");
      return "received";
    } catch (error) {
      outcomes.push((error as HttpException).code);
      throw error;
    }
  });
  client = await liveClient(app);
  return { port: client.port, outcomes, begun: () => begun };
}

function head(length: number, more = ""): string {
  return `POST /up HTTP/1.1\r\nHost: x\r\nContent-Type: ${CONTENT_TYPE}\r\nContent-Length: ${length}\r\n${more}\r\n`;
}

/** A request up to the first bytes of its file, with `length` more announced. */
async function begin(port: number, length: number): Promise<RawConnection> {
  const opening = form(oneFile("first")).subarray(0, -CLOSING_BYTES);
  const connection = await rawConnection(port);
  connection.socket.write(head(opening.length + length));
  connection.socket.write(opening);
  return connection;
}

describe("an upload over a limit", () => {
  it("is rejected while most of the file is still unsent, and the connection is closed", async () => {
    const directory = temporaryDirectory();
    const { port, outcomes } = await start({ maxSize: MIB, maxTotal: "200mb", spillAbove: 1000, directory });
    const connection = await begin(port, 64 * MIB);

    const sent = await flood(connection, Buffer.alloc(65_536, "a"), 1_024);
    await connection.closed;

    // The buffers of the system hold up to ten megabytes for a server that gets no turn.
    expect(sent).toBeLessThan(16 * MIB);
    expect(outcomes).toEqual(["PAYLOAD_TOO_LARGE"]);
    expect(leftIn(directory)).toEqual([]);
  });

  it("is rejected by its map alone, without waiting for the files", async () => {
    const { port } = await start({ maxFiles: 2 });
    const paths = { 0: ["variables.fs.0"], 1: ["variables.fs.1"], 2: ["variables.fs.2"] };
    const opening = form([operations({ fs: [null, null, null] }), map(paths)], "\r\n");
    const connection = await rawConnection(port);

    connection.socket.write(head(MIB));
    connection.socket.write(opening);

    expect(await connection.until('"code":"payload_too_large"')).toMatch(/^HTTP\/1\.1 413 /);
  });

  it("is rejected before its body is read, when it announces too much", async () => {
    const { port } = await start({ maxTotal: MIB });
    const connection = await rawConnection(port);

    connection.socket.write(head(MIB + MAX_BODY + 1, "Expect: 100-continue\r\n"));

    expect(await connection.until("\r\n\r\n")).toMatch(/^HTTP\/1\.1 413 /);
    expect(connection.received()).not.toContain("100 Continue");
  });
});

describe("a client that disconnects", () => {
  it("leaves nothing behind after half a file", async () => {
    const directory = temporaryDirectory();
    const { port, outcomes } = await start({ spillAbove: 1000, directory });
    const connection = await begin(port, MIB);

    await flood(connection, randomBytes(100_000), 5);
    await vi.waitUntil(() => process.platform !== "linux" || leftIn(directory).length === 1, 60_000);
    connection.socket.destroy();
    await vi.waitUntil(() => outcomes.length === 1, 60_000);

    expect(outcomes).toEqual(["BODY_INCOMPLETE"]);
    expect(leftIn(directory)).toEqual([]);
  });

  it("leaves nothing behind when it was slow", async () => {
    const directory = temporaryDirectory();
    const { port, outcomes } = await start({ spillAbove: 0, directory });
    const connection = await begin(port, MIB);

    for (let turn = 0; turn < 10; turn++) {
      connection.socket.write("x");
      await sleep(5);
    }
    connection.socket.end();
    await vi.waitUntil(() => outcomes.length === 1, 60_000);

    expect(outcomes).toEqual(["BODY_INCOMPLETE"]);
    expect(leftIn(directory)).toEqual([]);
  });

  it("leaves nothing behind 500 times", async () => {
    const directory = temporaryDirectory();
    const { port, outcomes, begun } = await start({ spillAbove: 1000, directory });
    const piece = randomBytes(50_000);

    for (let round = 0; round < 20; round++) {
      const connections = await Promise.all(Array.from({ length: 25 }, () => begin(port, MIB)));
      await Promise.all(connections.map((connection) => flood(connection, piece, round % 5)));
      await vi.waitUntil(() => begun() === 25 * (round + 1), { timeout: 60_000 });
      for (const { socket } of connections) socket.destroy();
      await vi.waitUntil(() => outcomes.length === 25 * (round + 1), { timeout: 60_000 });
    }

    expect(new Set(outcomes)).toEqual(new Set(["BODY_INCOMPLETE"]));
    expect(outcomes).toHaveLength(500);
    expect(leftIn(directory)).toEqual([]);
  });
});

describe("an upload that takes too long", () => {
  it("is cancelled after the time limit for a request, which is not that of its handler", async () => {
    const directory = temporaryDirectory();
    const { port, outcomes } = await start({ spillAbove: 0, directory }, 0.6);
    const connection = await begin(port, MIB);
    await sleep(300);
    const early = connection.received();

    await connection.until("\r\n\r\n");
    await vi.waitUntil(() => outcomes.length === 1, 60_000);

    expect(early).toBe("");
    expect(connection.received()).toMatch(/^HTTP\/1\.1 408 /);
    expect(outcomes).toEqual(["BODY_INCOMPLETE"]);
    expect(leftIn(directory)).toEqual([]);
  });

  it("releases its stream immediately, and does not close it", async () => {
    const stream = new PassThrough();
    const abort = new AbortController();
    const options = { uploads: uploadsOf({}), maxBody: MAX_BODY, signal: abort.signal };
    const receiving = receiveUpload({ stream, headers: { "content-type": CONTENT_TYPE } }, options);
    stream.write(form(oneFile()).subarray(0, -CLOSING_BYTES));
    await sleep(5);

    abort.abort(new Error("too late"));

    await expect(receiving).rejects.toBeInstanceOf(HttpException);
    await expect(receiving).rejects.toMatchObject({ code: "BODY_INCOMPLETE", cause: new Error("too late") });
    expect(stream.listenerCount("readable")).toBe(0);
    expect(stream.destroyed).toBe(false);
    expect(stream.readableFlowing).not.toBe(true);
  });
});
