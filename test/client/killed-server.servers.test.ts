import { createClient, type SubscriptionEvent } from "portico-client";
import { describe, expect, it } from "vitest";
import { books } from "./client-app.ts";
import { type ServerProcess, serverProcess } from "./server-process.ts";

type Events = AsyncGenerator<SubscriptionEvent<{ readonly ticks: number }>>;

async function nextAfterTick(events: Events, server: ServerProcess, value: number): Promise<unknown> {
  const next = events.next();
  const timer = setInterval(() => void server.tick(value).catch(() => {}), 50);
  return (await next.finally(() => clearInterval(timer))).value;
}

/** Returns the first gap, after the events that had already arrived. */
async function gapIn(events: Events): Promise<unknown> {
  for (;;) {
    const { value, done } = await events.next();
    if (done === true || value.gap) return value;
  }
}

// Servers may start slowly on a busy machine.
describe("a server that is killed and starts again", { timeout: 240_000 }, () => {
  it.each(["sse", "websocket"] as const)("makes a subscription over %s report a gap, and go on", async (transport) => {
    const first = await serverProcess();
    const events: Events = createClient({ url: first.url, transport }).subscribe("subscription { ticks }");
    expect(await nextAfterTick(events, first, 1)).toEqual({ data: { ticks: 1 }, error: null, gap: false });

    await first.kill();
    const reconnected = gapIn(events);
    const second = await serverProcess(first.port);

    expect(await reconnected).toEqual({ data: null, error: null, gap: true });
    expect(await nextAfterTick(events, second, 2)).toEqual({ data: { ticks: 2 }, error: null, gap: false });
    await events.return(undefined);
  });

  it("makes a walk wait, and loses and repeats no item", async () => {
    const first = await serverProcess();
    const walked: string[] = [];

    for await (const { id } of createClient({ url: first.url }).walk("/books", {
      query: { page_size: 10 },
      retries: 50,
    })) {
      walked.push(id);
      if (walked.length !== 35) continue;
      await first.kill();
      // The next page is requested while no server listens.
      setTimeout(() => void serverProcess(first.port), 500);
    }

    expect(walked).toEqual(books.map(({ id }) => id));
  });

  it("makes a subscription reject once its retries are used up", async () => {
    const server = await serverProcess();
    const events: Events = createClient({ url: server.url }).subscribe("subscription { ticks }", { retries: 1 });
    await nextAfterTick(events, server, 1);

    await server.kill();

    await expect(gapIn(events)).rejects.toMatchObject({ code: "NETWORK_ERROR" });
  });
});
