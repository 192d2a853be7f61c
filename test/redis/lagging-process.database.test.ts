import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { topic } from "portico";
import { RedisPubSub } from "portico/redis";
import { expect, it, onTestFinished } from "vitest";
import { newPrefix, SHARED_URL } from "../../lab/servers/redis-server.ts";
import { blockThread } from "../block-thread.ts";

const news = topic<{ readonly n: number; readonly text: string }>("news");

/** A proxy to Redis with slow replies: at most this many bytes at once, then a pause. */
async function slowLine(bytes: number, pauseMs: number): Promise<string> {
  const { hostname, port } = new URL(SHARED_URL);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) open.add(socket.on("error", () => {}));
    client.pipe(upstream);
    void (async () => {
      for await (const chunk of upstream as AsyncIterable<Buffer>)
        for (let start = 0; start < chunk.length; start += bytes) {
          client.write(chunk.subarray(start, start + bytes));
          await sleep(pauseMs);
        }
    })().catch(() => {});
    client.on("close", () => upstream.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it("keeps the connection of a bus on which events arrive, even if the heartbeat reply is queued behind them", async () => {
  const prefix = newPrefix();
  const slow = new RedisPubSub(await slowLine(10_000, 60), { prefix, timeoutSeconds: 0.5 });
  const direct = new RedisPubSub(SHARED_URL, { prefix });
  onTestFinished(async () => void (await Promise.all([slow.close(), direct.close()])));
  const received: number[] = [];
  const reading = (async () => {
    for await (const { n } of slow.subscribe(news)) if (received.push(n) === 300) return "all";
    return "some";
  })();
  await slow.settled();

  for (let n = 0; n < 300; n++) await direct.publish(news, { n, text: "x".repeat(2_000) });

  expect(await reading).toBe("all");
  expect(received).toEqual(Array.from({ length: 300 }, (_, n) => n));
});

it("waits for the reply to a command that it could not write while the process was blocked", async () => {
  const bus = new RedisPubSub(SHARED_URL, { prefix: newPrefix(), timeoutSeconds: 0.4 });
  onTestFinished(() => bus.close());
  await bus.publish(news, { n: 0, text: "connects" });

  const publishing = async (): Promise<void> => {
    for (let n = 1; n <= 10; n++) {
      setImmediate(blockThread, 600);
      await bus.publish(news, { n, text: "" });
    }
  };

  await expect(publishing()).resolves.toBeUndefined();
});
