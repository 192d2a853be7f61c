import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { watched } from "../../src/audit/stand-ins/watched.ts";

describe("a stand-in", () => {
  // A library may have added functions of its own to Reflect, in a file that ran before this one.
  const ways = runInNewContext("Object.getOwnPropertyNames(Reflect)") as readonly string[];

  it.each(ways)("notices Reflect.%s", (way) => {
    const seen: string[] = [];
    const stand = watched(function target() {}, {
      read: () => void seen.push("read"),
      noted: () => void seen.push("noted"),
    });
    const args: Readonly<Record<string, readonly unknown[]>> = {
      apply: [undefined, []],
      construct: [[]],
      defineProperty: ["key", { value: 1 }],
      setPrototypeOf: [null],
    };
    const look = Reflect[way as "has"] as (...given: readonly unknown[]) => unknown;
    look(stand, ...(args[way] ?? ["key"]));

    expect(seen).toContain(way === "get" ? "read" : "noted");
  });
});
