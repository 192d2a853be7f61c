import { createServer } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { freePort, type Starting, startWithin } from "../../../lab/servers/start-within.ts";

/** A server that writes a line, and never listens. */
const DEAF = ["-e", "console.log('loading ' + process.argv[1]); setInterval(() => {}, 1_000)"];
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
const never = new Promise<never>(() => {});
/** Patience ends as soon as the log shows that the process runs. */
const untilLoading = (starting: Starting): Promise<void> => starting.until(() => starting.log.includes("loading"));

describe("a server that never becomes ready", () => {
  it("is killed, started once more on other ports, and reported with its name, ports and log", async () => {
    const [ports, pids]: [number[], number[]] = [[], []];

    const failure: unknown = await startWithin(
      "The deaf server",
      async (starting) => {
        const port = await starting.port();
        ports.push(port);
        const { pid } = await starting.spawn(process.execPath, [...DEAF, String(port)]);
        pids.push(pid as number);
        return never;
      },
      { limit: untilLoading },
    ).catch((error: unknown) => error);

    expect([new Set(ports).size, pids.length]).toEqual([2, 2]);
    expect(pids.filter(isAlive)).toEqual([]);
    const { message } = failure as Error;
    expect(message).toContain("The deaf server did not start, tried 2 times");
    for (const port of ports) expect(message).toContain(`ports ${port}: it was not ready in time\nloading ${port}`);
  });

  it("stops waiting, and is cleaned up even if it becomes ready too late", async () => {
    const cleaned: string[] = [];
    const late = Promise.withResolvers<void>();

    const starts = startWithin(
      "The late server",
      async (starting) => {
        await late.promise;
        starting.onFailure(() => cleaned.push("server"));
        await starting.until(() => false);
      },
      { limit: async () => {} },
    );

    await expect(starts).rejects.toThrow("The late server did not start");
    late.resolve();
    await expect.poll(() => cleaned).toEqual(["server", "server"]);
  });
});

describe("a server whose port is taken", () => {
  it("is started on another port as soon as its process has ended", async () => {
    const ports: number[] = [];

    const port = await startWithin(
      "The second server",
      async (starting) => {
        const chosen = await starting.port();
        ports.push(chosen);
        if (ports.length > 1) return chosen;
        await starting.spawn(process.execPath, ["-e", "console.error('address in use'); process.exit(1)"]);
        return never;
      },
      { limit: () => never },
    );

    expect(ports).toEqual([expect.any(Number), port]);
    expect(new Set(ports).size).toBe(2);
  });

  it("is never given a port that another process listens on", async () => {
    const before = await freePort();
    const other = createServer().listen(before + 1, "127.0.0.1");
    onTestFinished(() => void other.close());
    await new Promise((resolve) => other.once("listening", resolve).once("error", resolve));

    expect(await freePort()).not.toBe(before + 1);
  });
});
