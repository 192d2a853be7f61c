import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import type { Input } from "./input.ts";
import { type Received, readResponses } from "./read-responses.ts";
import { waitedForCpu } from "./waited-for-cpu.ts";

/** What came of one input. */
export interface Played extends Received {
  readonly input: Input;
  /** Why there was no connection, or no response in time. */
  readonly trouble: string | null;
}

/** A response takes no longer than this. On a busy machine, the time begins again a few times. */
const TIMEOUT_MS = 20_000;
const MAX_WAITS = 6;
/** A connection is left when it has been quiet for this long and no response is due. */
const QUIET_MS = 40;
/** How long the first bytes, or the end of a half-closed connection, may take. */
const FIRST_MS = 250;
/** How long a piece waits for the reply to the one before. */
const REPLY_MS = 250;

/** Sends an input from addresses of its own, so that no limit that counts by address is reached. */
export async function playInput(port: number, input: Input): Promise<Played> {
  const all = await Promise.all(Array.from({ length: input.copies ?? 1 }, () => playOnce(port, input)));
  return {
    input,
    responses: all.flatMap(({ responses }) => responses),
    messages: all.flatMap(({ messages }) => messages),
    closeCode: all.find(({ closeCode }) => closeCode !== null)?.closeCode ?? null,
    trouble: all.find(({ trouble }) => trouble !== null)?.trouble ?? null,
  };
}

async function playOnce(port: number, input: Input): Promise<Played> {
  const { socket, line } = await dial(port);
  if (line.error !== null) return { input, responses: [], messages: [], closeCode: null, trouble: line.error };
  try {
    for (const { bytes, awaitsReply } of input.pieces) {
      if (line.isClosed) break;
      const heard = line.chunks.length;
      socket.write(bytes);
      await turn();
      if (awaitsReply === true) await line.until(() => line.chunks.length > heard, REPLY_MS);
    }
    if (input.ending === "half-close") socket.end();
    if (input.ending === "disconnect") socket.destroy();
    await finish(line, input);
  } finally {
    socket.destroy();
  }
  const received = readResponses(Buffer.concat(line.chunks));
  return { input, ...received, trouble: lack(input, received, line) };
}

/** Waits for the responses that are due, or until the connection is quiet. */
async function finish(line: Line, input: Input): Promise<void> {
  if (input.ending === "disconnect") return;
  if (input.isAnswered !== true) {
    const isStarted = (): boolean => line.chunks.length > 0 && input.ending !== "half-close";
    await line.until(isStarted, FIRST_MS);
    for (let heard = -1; heard !== line.chunks.length && !line.isClosed; ) {
      heard = line.chunks.length;
      await line.until(() => false, QUIET_MS);
    }
    return;
  }
  for (let left = MAX_WAITS; left > 0 && !line.isClosed && !isAnswered(line); left--) {
    const waited = waitedForCpu();
    await line.until(() => isAnswered(line), TIMEOUT_MS);
    if (waitedForCpu() - waited < TIMEOUT_MS / 2) return;
  }
}

function isAnswered({ chunks }: Line): boolean {
  if (chunks.length === 0) return false;
  const last = readResponses(Buffer.concat(chunks)).responses.at(-1);
  return last !== undefined && last.isComplete && last.status >= 200;
}

function lack(input: Input, { responses }: Received, line: Line): string | null {
  const isLacking = input.isAnswered === true && input.ending !== "disconnect" && responses.length === 0;
  if (!isLacking) return null;
  return line.isClosed ? "the connection was closed without a response" : "there is no response";
}

/** What a connection has brought so far. */
class Line {
  readonly chunks: Buffer[] = [];
  isClosed = false;
  error: string | null = null;
  #wake: (() => void) | null = null;

  wake(): void {
    this.#wake?.();
  }

  /** Resolves when the condition holds, the connection is closed, or the time has passed. */
  until(isDone: () => boolean, patienceMs: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isDone() && !this.isClosed) return;
        end();
      };
      const end = (): void => {
        clearTimeout(timer);
        this.#wake = null;
        resolve();
      };
      const timer = setTimeout(end, patienceMs);
      this.#wake = look;
      look();
    });
  }
}

function dial(port: number): Promise<{ readonly socket: Socket; readonly line: Line }> {
  const line = new Line();
  const socket = connect({ port, host: "127.0.0.1", localAddress: nextAddress(), noDelay: true });
  return new Promise((resolve) => {
    let isConnected = false;
    socket.on("connect", () => {
      isConnected = true;
      resolve({ socket, line });
    });
    socket.on("data", (chunk) => {
      line.chunks.push(chunk);
      line.wake();
    });
    socket.on("error", (error) => {
      if (!isConnected) line.error = error.message;
    });
    socket.on("close", () => {
      line.isClosed = true;
      line.wake();
      resolve({ socket, line });
    });
  });
}

let addresses = 0;

/** All of 127.0.0.0/8 is this machine. */
function nextAddress(): string {
  const n = addresses++ % 0xfd_fd_fd;
  return `127.${1 + (Math.floor(n / 0xfd_fd) % 0xfd)}.${Math.floor(n / 0xfd) % 0xfd}.${1 + (n % 0xfd)}`;
}
