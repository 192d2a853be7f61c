import { EventEmitter, on } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buildSchema } from "graphql";
import { useServer } from "graphql-ws/use/ws";
import { createClient } from "redis";
import { WebSocketServer } from "ws";
import { obey } from "../sockets/obey.ts";

// graphql-ws as its guide sets it up, with one connection to Redis for all subscribers of the process.
const channel = `published-${process.pid}`;
const publisher = await createClient({ url: "redis://127.0.0.1:6379" }).connect();
const subscriber = await publisher.duplicate().connect();
const events = new EventEmitter().setMaxListeners(0);
await subscriber.subscribe(channel, (message) => events.emit(channel, Number(message)));

const schema = buildSchema("type Query { a: Int! } type Subscription { live: Float! }");
const roots = {
  subscription: {
    async *live() {
      for await (const [event] of on(events, channel)) yield { live: event };
    },
  },
};
const server = createServer();
useServer({ schema, roots }, new WebSocketServer({ server, path: "/graphql" }));
server.listen(0, "127.0.0.1", () => {
  obey((server.address() as AddressInfo).port, () =>
    publisher.publish(channel, String(performance.timeOrigin + performance.now())),
  );
});
