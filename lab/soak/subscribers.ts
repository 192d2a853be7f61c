import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { GraphSocket } from "./graph-socket.ts";
import { type Action, pick, type World } from "./world.ts";

/** Sockets and streams that are opened, listened to and dropped. */
export const subscribers: readonly Action[] = [
  { name: "socket", weight: 8, run: listen },
  { name: "socket that breaks the rules", weight: 4, run: breakRules },
  { name: "socket that does not read", weight: 1, run: doNotRead },
  { name: "stream of events", weight: 5, run: listenByHttp },
  { name: "socket of a route", weight: 3, run: echo },
];

const streams = ["ticks", "mine", "together", "bulky"] as const;

async function listen(world: World): Promise<void> {
  const { headers } = await world.signedIn();
  const socket = await new GraphSocket(world).init(headers);
  world.note(101);
  socket.subscribe("1", `subscription { ${pick(streams)} }`).subscribe("2", "subscription { together }");
  socket.subscribe("3", "subscription { three }").subscribe("4", "subscription { broken }");
  const way = pick(["complete", "close", "terminate", "at once"] as const);
  if (way !== "at once") {
    // Five of which are from the two that end by themselves, at most.
    await socket.hear("next", 7);
    await socket.hear("complete");
  }
  if (way === "complete") {
    socket.send({ type: "complete", id: "1" });
    socket.send({ type: "complete", id: "2" });
    // The same name again, after it was left.
    await socket.subscribe("1", "subscription { ticks }").hear("next", 9);
  }
  if (way === "terminate") socket.socket.terminate();
  else socket.socket.close();
  await socket.closed;
}

const broken: readonly (readonly [code: number, messages: readonly (object | string)[]])[] = [
  [4400, ["not json"]],
  [4400, [{ type: "nonsense" }]],
  [4401, [{ type: "subscribe", id: "1", payload: { query: "subscription { ticks }" } }]],
  [4429, [{ type: "connection_init" }, { type: "connection_init" }]],
  [4403, [{ type: "connection_init", payload: { authorization: "Bearer a.b.c" } }]],
  [4408, []],
  [1009, [`"${"x".repeat(70_000)}"`]],
];

async function breakRules(world: World): Promise<void> {
  const [code, messages] = pick(broken);
  const socket = new GraphSocket(world);
  socket.socket.once("open", () => {
    for (const message of messages) socket.send(message);
  });
  await socket.expectClosed(code);
}

/** Its events pile up until it is dropped, or until it goes. */
async function doNotRead(world: World): Promise<void> {
  const socket = await new GraphSocket(world).init();
  for (let n = 0; n < 20; n++) socket.subscribe(String(n), "subscription { bulky }");
  socket.socket.pause();
  await sleep(800);
  socket.socket.terminate();
  await socket.closed;
}

async function listenByHttp(world: World): Promise<void> {
  const { headers } = await world.signedIn();
  const [field, events] = pick([
    ["ticks", 2],
    ["mine", 1],
    ["together", 2],
    ["three", 4],
    ["broken", 2],
  ] as const);
  const ask = {
    method: "POST",
    path: "/graphql",
    body: { query: `subscription { ${field} }` },
    headers: { ...headers, accept: "text/event-stream" },
  };
  await new Promise<void>((resolve, reject) => {
    let heard = 0;
    const request = world.open(ask, (answer) => {
      world.note(answer.statusCode ?? 0);
      if (answer.statusCode !== 200) return reject(new Error(`a stream of ${field} answered ${answer.statusCode}`));
      answer.setEncoding("utf8");
      answer.on("data", (text: string) => {
        heard += text.match(/^event: /gm)?.length ?? 0;
        if (heard >= events) request.destroy();
      });
      answer.on("close", () =>
        heard >= events ? resolve() : reject(new Error(`${field} ended after ${heard} events`)),
      );
      answer.on("error", () => {});
    });
    request.on("error", reject);
  });
}

async function echo({ port }: World): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/echo`, { perMessageDeflate: false });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  await new Promise((resolve, reject) => {
    socket.once("message", resolve);
    socket.on("error", reject);
    socket.once("open", () => socket.send("hello"));
  });
  if (pick([true, false])) socket.close();
  else socket.terminate();
  await closed;
}
