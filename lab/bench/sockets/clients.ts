import { WebSocket } from "ws";

/** Opens the sockets, and tells how many messages have come, and how many sockets are ready. */
const [port = "", count = "0"] = process.argv.slice(2);
const url = `ws://127.0.0.1:${port}/graphql`;
const subscribe = JSON.stringify({
  type: "subscribe",
  id: "1",
  payload: { query: "subscription { live { n title } }" },
});
let received = 0;
let expected = 0;

function open(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, ["graphql-transport-ws"], { perMessageDeflate: false });
    socket.on("error", reject);
    socket.on("open", () => socket.send('{"type":"connection_init"}'));
    socket.once("message", () => {
      socket.send(subscribe);
      socket.on("message", () => {
        if (++received === expected) process.send?.({ all: received });
      });
      resolve();
    });
  });
}

process.on("message", (order: { readonly expect: number }) => {
  expected = received + order.expect;
});
process.on("disconnect", () => process.exit(0));

// A few at a time, as fast as they are taken.
let left = Number(count);
await Promise.all(
  Array.from({ length: 50 }, async () => {
    while (left-- > 0) await open();
  }),
);
process.send?.({ ready: true });
