import { type ChildProcess, execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { type Starting, startWithin } from "./start-within.ts";

/** A separate PostgreSQL on a free port, which a test can stop and start. */
export interface OwnPostgres {
  readonly url: string;
  start(): Promise<void>;
  /** Stops it as a crash would, without closing connections in order. */
  kill(): Promise<void>;
  /** Pauses the server and its backends: connections stay open, but they do not respond. */
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

/**
 * Starts one, with options of the command line: `["-c", "max_connections=50"]`.
 *
 * @param primary the server that it is a streaming replica of
 */
export async function ownPostgres(options: readonly string[] = [], primary?: OwnPostgres): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), "portico-postgres-"));
  const owner = serverOwner();
  if (owner.uid !== undefined && owner.gid !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, "data");
  if (primary === undefined)
    execFileSync("initdb", ["-D", data, "-U", "root", "-A", "trust", "--no-sync"], { ...owner, stdio: "ignore" });
  else
    execFileSync("pg_basebackup", ["-d", primary.url, "-D", data, "-R", "-c", "fast", "--no-sync"], {
      ...owner,
      stdio: "ignore",
    });
  let server: ChildProcess | null = null;

  const startOn = async (starting: Starting): Promise<number> => {
    const port = await starting.port();
    const args = ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", folder, "-F", ...options];
    // A killed server leaves its lock, which the next attempt would respect if the process id were in use again.
    starting.onFailure(() => rmSync(join(data, "postmaster.pid"), { force: true }));
    const child = await starting.spawn("postgres", args, owner);
    await starting.until(() => /ready to accept (?:read-only )?connections/.test(starting.log));
    await starting.until(() => answers(urlOf(port)));
    server = child;
    return port;
  };
  const kill = async (): Promise<void> => {
    const ending = server;
    server = null;
    if (ending === null || ending.exitCode !== null) return;
    const ended = new Promise((resolve) => ending.once("exit", resolve));
    // Immediate shutdown: the connections are cut, the log is replayed at the next start.
    ending.kill("SIGQUIT");
    await ended;
  };
  let frozen: readonly number[] = [];
  const freeze = (): void => {
    if (server?.pid === undefined) return;
    // The server first: it then starts no backend that would be missed.
    server.kill("SIGSTOP");
    frozen = [...backends(server.pid), server.pid];
    for (const pid of frozen) process.kill(pid, "SIGSTOP");
  };
  const thaw = (): void => {
    for (const pid of frozen) process.kill(pid, "SIGCONT");
    frozen = [];
  };
  const port = await startWithin("A PostgreSQL", startOn);
  return {
    url: urlOf(port),
    async start() {
      await startWithin("A PostgreSQL", startOn, { port });
    },
    kill,
    freeze,
    thaw,
    async remove() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function backends(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
}

/** PostgreSQL does not run as root, so it then runs as its own user. */
export function serverOwner(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: id("-u"), gid: id("-g") };
}

const urlOf = (port: number): string => `postgres://root@127.0.0.1:${port}/postgres`;

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url });
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
