import { fork } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { heard } from "./sockets/heard.ts";
import type { Held } from "./sockets/soak-server.ts";

const isShort = process.argv.includes("--short");
const CYCLES = isShort ? 1_000 : 10_000;
const AT_ONCE = 40;
const MAX_BYTES = 10 * 1024 ** 2;
const subscribe = JSON.stringify({ type: "subscribe", id: "1", payload: { query: "subscription { live }" } });
const ways = ["complete", "close", "terminate", "at once"] as const;

/** Sockets that connect, subscribe and drop, abruptly too: nothing of them is left in the server, nor the memory they took. */
export async function run(): Promise<void> {
  const server = fork(new URL("sockets/soak-server.ts", import.meta.url), { execArgv: ["--expose-gc"] });
  const { port } = await heard<{ readonly port: number }>(server, "port");
  const held = async (): Promise<Held> => {
    const answer = heard<{ readonly held: Held }>(server, "held");
    server.send({ tell: true });
    return (await answer).held;
  };
  // The first ones compile what the others run.
  await cycles(port, 1_000);
  await sleep(1_000);
  const before = await held();
  const began = performance.now();
  await cycles(port, CYCLES);
  const seconds = (performance.now() - began) / 1000;
  await sleep(2_000);
  const after = await held();
  server.disconnect();

  const grown = after.heap - before.heap;
  console.log(`${CYCLES} cycles in ${seconds.toFixed(1)} s`);
  console.log("before", before);
  console.log("after ", after);
  const isClean =
    after.generators === 0 &&
    after.dependencies === 0 &&
    after.sockets === before.sockets &&
    after.topics <= before.topics &&
    after.timers <= before.timers &&
    grown < MAX_BYTES;
  console.log(
    `bench soak: ${(grown / 1024 ** 2).toFixed(2)} MB more after ${CYCLES} cycles${isClean ? "" : ", AND SOMETHING IS LEFT"}`,
  );
  if (!isClean) process.exitCode = 1;
}

async function cycles(port: number, count: number): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (left-- > 0) await cycle(port, ways[left % ways.length] ?? "close");
    }),
  );
}

function cycle(port: number, way: (typeof ways)[number]): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, ["graphql-transport-ws"], {
    perMessageDeflate: false,
  });
  return new Promise((resolve) => {
    socket.on("error", () => {});
    socket.on("close", () => resolve());
    socket.on("open", () => {
      socket.send('{"type":"connection_init"}');
      if (way === "at once") socket.terminate();
    });
    let messages = 0;
    socket.on("message", () => {
      if (++messages === 1) return socket.send(subscribe);
      if (way === "complete") socket.send('{"type":"complete","id":"1"}');
      if (way === "terminate") socket.terminate();
      else socket.close();
    });
  });
}
