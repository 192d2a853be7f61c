import { ChildProcess } from "node:child_process";
import { Socket } from "node:net";
import type { TestKind } from "./test-kind.ts";

/** The servers that tests share, by port. */
const SHARED: Readonly<Record<number, string>> = { 3306: "MariaDB", 4222: "NATS", 5432: "PostgreSQL", 6379: "Redis" };

type Patched = Record<"spawn" | "connect", (this: unknown, ...args: unknown[]) => unknown>;

/** Files that share a process share what they were seen to need. */
const place = globalThis as { fileNeeds?: Map<TestKind, string> };

function needs(): Map<TestKind, string> {
  place.fileNeeds ??= watching();
  return place.fileNeeds;
}

/** Notes every process that is started and every connection to a shared server. */
function watching(): Map<TestKind, string> {
  const seen = new Map<TestKind, string>();
  const processes = ChildProcess.prototype as unknown as Patched;
  const { spawn } = processes;
  processes.spawn = function watchedSpawn(...args) {
    seen.set("servers", `starts ${(args[0] as { readonly file?: string } | undefined)?.file ?? "a process"}`);
    return spawn.apply(this, args);
  };
  const sockets = Socket.prototype as unknown as Patched;
  const { connect } = sockets;
  sockets.connect = function watchedConnect(...args) {
    const [first] = args.flat() as [{ readonly port?: number | string } | number | string | undefined];
    const server = SHARED[Number(typeof first === "object" ? first.port : first)];
    if (server !== undefined) seen.set("database", `connects to ${server}`);
    return connect.apply(this, args);
  };
  return seen;
}

/** What each kind of file may do in addition to computing. */
const ALLOWED: Readonly<Record<TestKind, readonly TestKind[]>> = {
  plain: [],
  database: ["database"],
  servers: ["database", "servers"],
  alone: ["database", "servers"],
  modules: ["database"],
  browser: ["database", "servers"],
  quiet: ["database", "servers"],
};

/** Starts to watch a file. The function that it returns says what the file did that its name doesn't say, in one sentence. */
export function watchNeeds(file: string, kind: TestKind): () => string | undefined {
  needs().clear();
  return () => {
    for (const needed of ["servers", "database"] as const) {
      const reason = needs().get(needed);
      if (reason === undefined || ALLOWED[kind].includes(needed)) continue;
      const name = file.replace(/(?:\.\w+)?\.test\.ts$/, `.${needed}.test.ts`);
      return `${file} ${reason}: rename it to ${name}`;
    }
    return undefined;
  };
}
