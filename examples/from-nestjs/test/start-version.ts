import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { createDatabase } from "../data/create-database.ts";

export type Version = "before" | "after";

/** A running process of one version. */
export interface Running {
  readonly url: string;
  /** The number of SQL statements that `work` caused. */
  statementsOf(work: () => Promise<unknown>): Promise<number>;
  close(): Promise<void>;
}

const at = (file: string): URL => new URL(file, import.meta.url);
const MAINS = { before: at("../before/dist/main.js"), after: at("../after/main.ts") } as const;
const PRELOADED = {
  before: [at("count-statements.mjs")],
  after: [at("count-statements.mjs"), at("../../bookshop/test/doors.mjs")],
} as const;

/** Starts a version on a free port, on its own database with the sample data, or on an existing file. */
export async function startVersion(version: Version, file?: string): Promise<Running> {
  const folder = file === undefined ? mkdtempSync(join(tmpdir(), "tracker-")) : undefined;
  const database = file ?? join(folder ?? "", "tracker.db");
  createDatabase(database);
  const child = fork(MAINS[version], {
    execArgv: PRELOADED[version].flatMap((module) => ["--import", module.href]),
    env: { ...process.env, PORT: "0", DATABASE: database, NODE_ENV: "development" },
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  const ended = once(child, "exit");
  const count = async (): Promise<number> => {
    child.send("count");
    return ((await once(child, "message")) as [number])[0];
  };
  const { stdout } = child;
  if (stdout === null) throw new Error("the process has no output");
  for await (const line of createInterface(stdout)) {
    const [, url] = /^listening on (\S+)$/.exec(line) ?? [];
    if (url === undefined) continue;
    stdout.resume();
    return {
      url,
      async statementsOf(work) {
        const earlier = await count();
        await work();
        return (await count()) - earlier;
      },
      async close() {
        child.kill("SIGTERM");
        await ended;
        if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      },
    };
  }
  throw new Error(`${version} has ended before it listened`);
}
