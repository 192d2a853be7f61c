import { WebSocket } from "ws";

// Opens subscriptions, and reports how long each event of a round took to arrive.
const [port = "", count = "0"] = process.argv.slice(2);
const subscribe = JSON.stringify({ type: "subscribe", id: "1", payload: { query: "subscription { live }" } });
const TIME = /"live":([\d.]+)/;
let delays: number[] = [];

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, ["graphql-transport-ws"], {
      perMessageDeflate: false,
    });
    socket.on("error", reject);
    socket.on("open", () => socket.send('{"type":"connection_init"}'));
    socket.once("message", () => {
      socket.send(subscribe);
      socket.on("message", (data: Buffer) => receive(data.toString()));
      resolve();
    });
  });
}

function receive(text: string): void {
  const publishedAt = TIME.exec(text)?.[1];
  if (publishedAt === undefined) return;
  delays.push(performance.timeOrigin + performance.now() - Number(publishedAt));
  if (delays.length < Number(count)) return;
  process.send?.({ delays });
  delays = [];
}

process.on("disconnect", () => process.exit(0));
let left = Number(count);
await Promise.all(
  Array.from({ length: 50 }, async () => {
    while (left-- > 0) await open();
  }),
);
process.send?.({ ready: true });
