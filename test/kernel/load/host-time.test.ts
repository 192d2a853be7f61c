import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { HostTime } from "../../../src/kernel/load/host-time.ts";

/** A system with these files, which a test changes later. */
function system(files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), "host-time-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const write = (changed: Readonly<Record<string, string>>): void => {
    for (const [name, text] of Object.entries(changed)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), text);
    }
  };
  write(files);
  return { hostTime: new HostTime(root), write };
}

const V2 = "usage_usec 5000000\nnr_throttled 3\nthrottled_usec";
const V1 = "nr_periods 5\nnr_throttled 3\nthrottled_time";

describe("the time that the host gives to others", () => {
  it("is what the main thread waited for a core since the last time", () => {
    const { hostTime, write } = system({ "proc/self/schedstat": "9000000 5000000 7\n" });
    write({ "proc/self/schedstat": "99000000 45000000 8\n" });

    expect([hostTime.takenMs(), hostTime.takenMs()]).toEqual([40, 0]);
  });

  it.each([
    ["cgroup v2", "0::/pod/app\n", "sys/fs/cgroup/pod/app/cpu.stat", `${V2} 1000\n`, `${V2} 71000\n`],
    ["cgroup v2 in a container", "0::/pod/app\n", "sys/fs/cgroup/cpu.stat", `${V2} 1000\n`, `${V2} 71000\n`],
    [
      "cgroup v1",
      "4:cpu,cpuacct:/app\n0::/\n",
      "sys/fs/cgroup/cpu/app/cpu.stat",
      `${V1} 1000000\n`,
      `${V1} 71000000\n`,
    ],
    [
      "cgroup v1 in a container",
      "4:cpuacct,cpu:/a\n",
      "sys/fs/cgroup/cpu/cpu.stat",
      `${V1} 1000000\n`,
      `${V1} 71000000\n`,
    ],
  ])("is what a quota of %s took, if that is more", (_, groups, path, before, after) => {
    const { hostTime, write } = system({
      "proc/self/cgroup": groups,
      "proc/self/schedstat": "0 0 0\n",
      [path]: before,
    });
    write({ [path]: after, "proc/self/schedstat": "0 69000000 0\n" });

    expect(hostTime.takenMs()).toBe(70);
  });

  it("is zero where the system does not say it, or no longer does", () => {
    const { hostTime, write } = system({ "proc/self/schedstat": "0 5000000 0\n" });
    write({ "proc/self/schedstat": "" });

    expect(hostTime.takenMs()).toBe(0);
    expect(system({}).hostTime.takenMs()).toBe(0);
  });
});
