import { PorticoApp } from "portico";
import { liveClient, testClient } from "portico/testing";
import { expect, it, onTestFinished, vi } from "vitest";

/** How long a database connection took, which is too long even if the host took two thirds of it. */
const WAITED_MS = 300_000;

it.each([
  ["a cookie", { cookie: "session=a" }],
  ["an Authorization header", { authorization: "Bearer a" }],
  ["an API key", { "x-api-key": "a" }],
] as const)(
  "a request with %s is rejected later than anonymous ones when the limit has shrunk",
  async (_name, headers) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const release = Promise.withResolvers<void>();
    const app = new PorticoApp({
      logger: false,
      load: { maxInFlight: 100, maxWaitMs: WAITED_MS / 3 - 1, maxEventLoopDelayMs: 60_000 },
    })
      .get("/slow", () => release.promise)
      .get("/query", ({ ctx }) => ctx.services.load.waited(WAITED_MS))
      .get("/quick", () => "done");
    const client = await liveClient(app);
    onTestFinished(async () => {
      vi.useRealTimers();
      release.resolve();
      await client.close();
    });
    const { get } = testClient(app);
    const slow = Array.from({ length: 47 }, () => get("/slow"));
    const status = async (sent: Readonly<Record<string, string>> = {}): Promise<number> =>
      (await client.get("/quick", { headers: sent })).status;

    await get("/query");
    vi.advanceTimersByTime(100);
    const shrunk = [await status(), await status(headers)];
    // The limit grows from 36 to 60, of which anonymous requests may take 48.
    vi.advanceTimersByTime(900);
    const grown = [await status(), await status(headers)];
    slow.push(get("/slow"));
    const full = [await status(), await status(headers)];

    expect([shrunk, grown, full]).toEqual([
      [503, 503],
      [200, 200],
      [503, 200],
    ]);
  },
);
