import { execFileSync, spawn } from "node:child_process";
import { chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";

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
  const port = await freePort();
  const url = `postgres://root@127.0.0.1:${port}/postgres`;
  let server: ReturnType<typeof spawn> | null = null;

  const start = async (): Promise<void> => {
    const args = ["-D", data, "-p", String(port), "-h", "127.0.0.1", "-k", folder, "-F", ...options];
    server = spawn("postgres", args, { ...owner, stdio: "ignore" });
    for (let attempt = 0; attempt < 200; attempt++) {
      const client = new Client({ connectionString: url });
      try {
        await client.connect();
        return;
      } catch {
        await sleep(50);
      } finally {
        await client.end().catch(() => {});
      }
    }
    throw new Error("PostgreSQL did not start");
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
  await start();
  return {
    url,
    start,
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

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}
