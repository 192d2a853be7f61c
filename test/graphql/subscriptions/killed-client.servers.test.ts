import { spawn } from "node:child_process";
import { once } from "node:events";
import { field, schema, subscription, t } from "portico/graphql";
import { expect, it, vi } from "vitest";
import { openGraph } from "./open.ts";

const CLIENT = `
import { WebSocket } from "ws";
const ws = new WebSocket(process.argv[1], ["graphql-transport-ws"]);
ws.on("open", () => ws.send(JSON.stringify({ type: "connection_init" })));
ws.on("message", (text) => {
  const { type } = JSON.parse(text);
  if (type === "connection_ack")
    for (let n = 0; n < 20; n++)
      ws.send(JSON.stringify({ id: String(n), type: "subscribe", payload: { query: "subscription { live }" } }));
});
`;

it("leaves nothing of a client that was killed with SIGKILL: its generators and its socket end", async () => {
  let open = 0;
  const live = subscription(t.int)(async function* ({ ctx }) {
    open++;
    try {
      yield 1;
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve));
    } finally {
      open--;
    }
  });
  const query = { ok: field(t.boolean)(() => true) };
  const { url } = await openGraph(schema({ query, subscription: { live } }));
  const client = spawn(process.execPath, ["--input-type=module", "-e", CLIENT, url], { stdio: "inherit" });
  await vi.waitFor(() => expect(open).toBe(20), { timeout: 60_000 });

  client.kill("SIGKILL");
  await once(client, "exit");

  await vi.waitFor(() => expect(open).toBe(0), { timeout: 60_000 });
});
