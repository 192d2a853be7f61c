import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "../../../packages/portico-client/src/index.ts";

/** How a process of clients is started. */
export interface SubscriberSettings {
  readonly port: number;
  readonly count: number;
  /** How many addresses of this machine they connect to. Each has its own range of client ports. */
  readonly addresses: number;
}

// Opens subscriptions with portico-client. Sockets go to the port of the latest order, as through a balancer.
const MAX_PENDING = 100;
const { port, count, addresses } = JSON.parse(process.argv[2] ?? "") as SubscriberSettings;
const now = { target: String(port), opened: 0 };
globalThis.WebSocket = class extends WebSocket {
  constructor(url: string | URL, protocols?: string) {
    super(Object.assign(new URL(url), { port: now.target }), protocols);
    this.addEventListener("open", () => now.opened++);
  }
} as typeof WebSocket;
process.on("message", (order: { readonly target: number }) => {
  now.target = String(order.target);
  process.send?.({ moved: true });
});
process.on("disconnect", () => process.exit(0));

for (let n = 0; n < count; n++) {
  while (n - now.opened > MAX_PENDING) await sleep(5);
  void follow(`http://127.0.0.${1 + (n % addresses)}:${port}`);
}
while (now.opened < count) await sleep(5);
process.send?.({ ready: true });

async function follow(url: string): Promise<void> {
  // A machine that stands still must not look like a lost connection.
  const client = createClient({ url, transport: "websocket", idleSeconds: 0 });
  for await (const { error } of client.subscribe("subscription { live }")) if (error !== null) throw error;
}
