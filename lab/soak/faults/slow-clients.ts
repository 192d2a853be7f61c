import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { judgeBreak } from "./documented-outcomes.ts";
import { type SteadyClient, withinPatience } from "./steady-client.ts";

const HOST = "host: soak.example\r\n";
const BODY = '{"text":"byte by byte"}';
const BYTE_MS = 60;
const UNREAD_MS = 2_000;
const post = (length: number): string =>
  `POST /small HTTP/1.1\r\n${HOST}connection: close\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

/** One of the slow clients at a time. Nothing of theirs may slow down or break the others. */
export const slowClients: readonly ((client: SteadyClient) => Promise<void>)[] = [
  sendSlowly,
  readNothing,
  leaveHalfWay,
];

/** The body is complete in time, so the response is a normal one. */
async function sendSlowly(client: SteadyClient): Promise<void> {
  const start = performance.now();
  try {
    const socket = await dial(client);
    const response = new Promise<string>((resolve, reject) => {
      let text = "";
      socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
      socket.on("error", reject);
      socket.on("close", () => (text === "" ? reject(broken()) : resolve(text)));
    });
    response.catch(() => {});
    socket.write(post(BODY.length));
    for (const byte of BODY) {
      await sleep(BYTE_MS);
      if (!socket.destroyed) socket.write(byte);
    }
    const text = await withinPatience("a slow body", response);
    if (!text.startsWith("HTTP/1.1 200 ")) throw new Error(`a slow body was answered with ${text.slice(0, 200)}`);
  } catch (error) {
    judgeBreak(error, client.windows.since(start));
  }
}

async function readNothing(client: SteadyClient): Promise<void> {
  await leaving(client, `GET /stream HTTP/1.1\r\n${HOST}\r\n`.repeat(3), UNREAD_MS);
}

async function leaveHalfWay(client: SteadyClient): Promise<void> {
  await leaving(client, `${post(BODY.length)}${BODY.slice(0, BODY.length / 2)}`, UNREAD_MS * Math.random());
}

async function leaving(client: SteadyClient, bytes: string, afterMs: number): Promise<void> {
  const start = performance.now();
  try {
    const socket = await dial(client);
    socket.on("error", () => {});
    socket.pause();
    socket.write(bytes);
    await sleep(afterMs);
    socket.destroy();
  } catch (error) {
    judgeBreak(error, client.windows.since(start));
  }
}

function dial({ world }: SteadyClient): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(world.port, "127.0.0.1", () => resolve(socket));
    socket.once("error", reject);
  });
}

function broken(): Error {
  return Object.assign(new Error("the connection ended without a response"), { code: "ECONNRESET" });
}
