import { setTimeout as sleep } from "node:timers/promises";
import { PorticoApp } from "../../src/index.ts";

/** What a request costs: CPU time before and after it waited for something, as a database would have it. */
const WORK_MS = 1;
const WAIT_MS = 5;

const app = new PorticoApp({ logger: false, shutdown: { signals: [] } })
  .get("/page", async () => {
    work(WORK_MS / 2);
    await sleep(WAIT_MS);
    work(WORK_MS / 2);
    return { items: [1, 2, 3] };
  })
  .get("/plain", () => {
    work(WORK_MS);
    return { ok: true };
  });

function work(ms: number): void {
  const { user, system } = process.cpuUsage();
  for (;;) {
    const now = process.cpuUsage();
    if (now.user + now.system - user - system >= ms * 1000) return;
  }
}

const { port } = await app.listen({ port: 0 });
process.on("disconnect", () => process.exit(0));
process.send?.({ port });
