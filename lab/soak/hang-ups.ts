import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { uploadForm, uploadHeaders } from "./upload-form.ts";
import { type Action, pick, type World } from "./world.ts";

const HOST = "host: soak.example\r\n";
const upload = uploadForm("mutation ($file: Upload!) { ignore(file: $file, ms: 50) }", 300_000);
const uploadHead = `POST /graphql HTTP/1.1\r\n${HOST}content-type: ${uploadHeaders["content-type"]}\r\ncontent-length: ${upload.length}\r\n\r\n`;

/** What a client sends before it is gone, and how long it waits with that. */
const beginnings: readonly (readonly [bytes: string | Buffer, waitMs: number])[] = [
  ["", 50],
  ["GET /notes HTTP/1.1\r\nhost: soa", 20],
  ["GET /notes HTTP/1.1\r\n", 0],
  [`POST /small HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 500\r\n\r\n{"text":"`, 20],
  [`POST /graphql HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 500\r\n\r\n{"query":"`, 20],
  [
    `POST /graphql HTTP/1.1\r\n${HOST}content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{"que`,
    20,
  ],
  [whole("GET", "/slow"), 30],
  [whole("GET", "/stream"), 60],
  [whole("GET", "/private"), 0],
  [whole("POST", "/graphql", { query: "{ slow(ms: 200) notes(limit: 5) { author { name } } }" }), 30],
  [whole("POST", "/graphql", { query: "subscription { ticks }" }, "accept: text/event-stream\r\n"), 150],
  [whole("POST", "/graphql", { query: "subscription { bulky }" }, "accept: text/event-stream\r\n"), 300],
  [whole("GET", "/notes").repeat(8), 5],
  [`${whole("GET", "/notes")}GET /no`, 20],
  [uploadHead, 20],
  [uploadHead + upload.subarray(0, 900).toString("latin1"), 20],
  [uploadHead + upload.subarray(0, 200_000).toString("latin1"), 40],
  [uploadHead + upload.toString("latin1"), 10],
  [upgrade("/graphql"), 10],
  [upgrade("/echo"), 0],
  [`${upgrade("/echo")}\x81`, 20],
  ["GET /echo HTTP/1.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n", 10],
  ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 10],
  ["GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 10],
  [`POST /small HTTP/1.1\r\n${HOST}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`, 10],
];

/** Clients that are gone in the middle of something. */
export const hangUps: readonly Action[] = [
  { name: "hang-up", weight: 22, run: hangUp },
  {
    // Sends its headers slowly, and is told so by the server.
    name: "slow headers",
    weight: 0.3,
    async run(world) {
      const socket = await dial(world);
      socket.resume();
      socket.write("GET /notes HTTP/1.1\r\n");
      await Promise.race([closed(socket), sleep(60_000, undefined, { ref: false })]);
      if (!socket.destroyed) {
        socket.destroy();
        throw new Error("headers that do not come are waited for for ever");
      }
    },
  },
];

async function hangUp(world: World): Promise<void> {
  const [bytes, waitMs] = pick(beginnings);
  const socket = await dial(world);
  socket.on("data", () => {});
  socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  await sleep(waitMs * (0.5 + Math.random()));
  const way = pick(["end", "destroy", "reset"] as const);
  if (way === "end") socket.end();
  if (way === "reset") socket.resetAndDestroy();
  // Half closed, the server may still answer: for as long as this.
  if (way === "end") await Promise.race([closed(socket), sleep(500, undefined, { ref: false })]);
  socket.destroy();
  world.note(0);
}

function dial({ port }: World): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket));
    socket.on("error", reject);
  });
}

function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once("close", () => resolve()));
}

function whole(method: string, path: string, body?: object, more = ""): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const about = text === "" ? "" : `content-type: application/json\r\ncontent-length: ${text.length}\r\n`;
  return `${method} ${path} HTTP/1.1\r\n${HOST}${about}${more}\r\n${text}`;
}

function upgrade(path: string): string {
  return `GET ${path} HTTP/1.1\r\n${HOST}upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n`;
}
