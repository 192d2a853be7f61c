import { ServerResponse } from "node:http";
import { createRequire } from "node:module";
import { describe, expect, it, vi } from "vitest";
import { watchProcess } from "./left-behind.ts";

const require = createRequire(import.meta.url);

describe("a test file leaves for the next one in its process", () => {
  it("nothing, if it restores what it replaces", () => {
    const left = watchProcess();

    vi.useFakeTimers();
    vi.stubEnv("PORTICO_LEFT", "1");
    vi.useRealTimers();
    vi.unstubAllEnvs();

    expect(left()).toEqual([]);
  });

  it.each<[string, () => () => unknown]>([
    [
      "process.env.PORTICO_LEFT",
      () => {
        vi.stubEnv("PORTICO_LEFT", "1");
        return () => vi.unstubAllEnvs();
      },
    ],
    [
      "Math.random",
      () => {
        const random = vi.spyOn(Math, "random").mockReturnValue(0);
        return () => random.mockRestore();
      },
    ],
    [
      "listeners for SIGTERM",
      () => {
        const listener = (): void => {};
        process.on("SIGTERM", listener);
        return () => process.off("SIGTERM", listener);
      },
    ],
    ...(
      [
        ["@node-rs/argon2", "verify"],
        ["node:fs", "writeFileSync"],
        ["node:crypto", "scrypt"],
      ] as const
    ).map(([module, name]): [string, () => () => unknown] => [
      `${module} ${name}`,
      () => {
        const replaced = vi.spyOn(require(module) as Record<string, () => void>, name).mockReturnValue();
        return () => replaced.mockRestore();
      },
    ]),
    [
      "node:http ServerResponse.writeHead",
      () => {
        const replaced = vi.spyOn(ServerResponse.prototype, "writeHead").mockReturnThis();
        return () => replaced.mockRestore();
      },
    ],
  ])("%s, which is named", (name, change) => {
    const left = watchProcess();

    const restore = change();
    const found = left();
    restore();

    expect(found).toEqual([name]);
    expect(left()).toEqual([]);
  });

  it("a clock that does not move", () => {
    const left = watchProcess();

    vi.useFakeTimers();
    const found = left();
    vi.useRealTimers();

    expect(found).toEqual(expect.arrayContaining(["Date", "setTimeout"]));
  });
});
