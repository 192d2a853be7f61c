import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

// node scripts/hostile-host.ts busy|pauses [--processes 8] -- COMMAND...
// Runs a command on a host that others use too: beside busy processes, or with all of its processes stopped for 0.4 to 2.2 s every few
// seconds. A test that depends on time fails there. Ends with the exit code of the command. Needs Linux.
const separator = process.argv.indexOf("--");
const [mode = "", ...options] = process.argv.slice(2, separator < 0 ? undefined : separator);
const [program, ...args] = separator < 0 ? [] : process.argv.slice(separator + 1);
if (!["busy", "pauses"].includes(mode) || program === undefined)
  throw new Error("usage: node scripts/hostile-host.ts busy|pauses [--processes 8] -- COMMAND...");
const processes = Number(options[options.indexOf("--processes") + 1] ?? 8) || 8;

const child = spawn(program, args, { stdio: "inherit" });
let isOver = false;
const ended = once(child, "exit").then(([code]) => {
  isOver = true;
  return code as number | null;
});
const disturbed = mode === "busy" ? besideBusyProcesses() : withPauses(child.pid as number);
process.exitCode = (await ended) ?? 1;
console.log(`hostile host: ${await disturbed}`);

async function besideBusyProcesses(): Promise<string> {
  const busy = Array.from({ length: processes }, () =>
    spawn(process.execPath, ["-e", "for (;;);"], { stdio: "ignore" }),
  );
  await ended;
  for (const each of busy) each.kill("SIGKILL");
  return `${processes} busy processes beside ${program}`;
}

async function withPauses(root: number): Promise<string> {
  let [pauses, stoppedMs] = [0, 0];
  // oxlint-disable-next-line no-unmodified-loop-condition -- the command ends it
  while (!isOver) {
    await Promise.race([sleep(2_000 + Math.random() * 4_000), ended]);
    const family = descendants(root);
    const ms = 400 + Math.random() * 1_800;
    for (const pid of family) signal(pid, "SIGSTOP");
    await sleep(ms);
    for (const pid of family) signal(pid, "SIGCONT");
    pauses++;
    stoppedMs += ms;
  }
  return `${pauses} pauses, ${Math.round(stoppedMs / 1_000)} s in all`;
}

/** A process and everything that it has started, except what a test has stopped itself. */
function descendants(root: number): readonly number[] {
  const parents = new Map<number, number>();
  const stopped = new Set<number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const [, state, parent = ""] = /\) (\S) (\d+)/.exec(readFileSync(`/proc/${name}/stat`, "utf8")) ?? [];
      parents.set(Number(name), Number(parent));
      if (state === "T") stopped.add(Number(name));
    } catch {
      // It has ended since.
    }
  }
  const family = [root];
  for (const member of family) for (const [pid, parent] of parents) if (parent === member) family.push(pid);
  return family.filter((pid) => !stopped.has(pid));
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended since.
  }
}
