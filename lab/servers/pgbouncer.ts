import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isListening } from "./redis-server.ts";
import { type Starting, startWithin } from "./start-within.ts";

/** The server behind a PgBouncer, and the connections that it accepts. */
export interface PgBouncerOptions {
  /** @default the database `test` of the shared PostgreSQL */
  readonly target?: string;
  /** @default 200 */
  readonly clients?: number;
}

const SHARED = "host=127.0.0.1 port=5432 dbname=test user=postgres";

/** What `discard all` does, except that the next client gets the schema again: it would get that of the server. */
const resetTo = (schema: string): string =>
  `close all; unlisten *; deallocate all; reset all; set search_path to ${schema}; select pg_advisory_unlock_all()`;

/** A PgBouncer on a free port, in front of the shared PostgreSQL, with two connections to it. */
export class PgBouncer {
  readonly url: string;
  readonly #process: ChildProcess;
  readonly #folder: string;

  private constructor(url: string, process: ChildProcess, folder: string) {
    this.url = url;
    this.#process = process;
    this.#folder = folder;
  }

  static start(mode: "session" | "transaction", schema: string, options: PgBouncerOptions = {}): Promise<PgBouncer> {
    return startWithin("A PgBouncer", (starting) => PgBouncer.#start(starting, mode, schema, options));
  }

  static async #start(
    starting: Starting,
    mode: "session" | "transaction",
    schema: string,
    { target = SHARED, clients = 200 }: PgBouncerOptions,
  ): Promise<PgBouncer> {
    const folder = await mkdtemp(join(tmpdir(), "portico-pgbouncer-"));
    starting.onFailure(() => rm(folder, { recursive: true, force: true }));
    const port = await starting.port();
    const file = join(folder, "pgbouncer.ini");
    // The schema is not a parameter of the connection, because a pooler shares connections.
    await writeFile(
      file,
      `[databases]
test = ${target} connect_query='set search_path to ${schema}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
server_reset_query = ${resetTo(schema)}
default_pool_size = ${mode === "session" ? 20 : 2}
max_client_conn = ${clients}
admin_users = postgres
`,
    );
    await chmod(folder, 0o755);
    // It does not run as root.
    const user = process.getuid?.() === 0 ? ["-u", "postgres"] : [];
    const child = await starting.spawn("pgbouncer", [...user, file]);
    await starting.until(() => starting.log.includes("process up"));
    await starting.until(() => isListening(port));
    return new PgBouncer(`postgres://postgres@127.0.0.1:${port}/test`, child, folder);
  }

  /** The URL of its console, which takes commands such as `DISABLE test`. */
  get console(): string {
    return Object.assign(new URL(this.url), { pathname: "/pgbouncer" }).href;
  }

  async kill(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  /** Pauses it: connections stay open, but it does not respond. */
  freeze(): void {
    this.#process.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process.kill("SIGCONT");
  }

  async remove(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
