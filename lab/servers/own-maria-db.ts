import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Connection, createConnection, type RowDataPacket } from "mysql2/promise";
import { type Starting, startWithin } from "./start-within.ts";

/** A separate MariaDB on a free port, with the database `shop`. */
export class OwnMariaDb {
  readonly port: number;
  readonly #folder: string;
  #process: ChildProcess;

  private constructor(port: number, folder: string, process: ChildProcess) {
    this.port = port;
    this.#folder = folder;
    this.#process = process;
  }

  static async start(): Promise<OwnMariaDb> {
    const folder = mkdtempSync(join(tmpdir(), "portico-mariadb-"));
    const own = process.getuid?.() === 0 ? ["--user=root"] : [];
    execFileSync(
      "mariadb-install-db",
      ["--no-defaults", ...own, `--datadir=${folder}`, "--auth-root-authentication-method=normal", "--skip-test-db"],
      { stdio: "ignore" },
    );
    return startWithin("A MariaDB", async (starting) => {
      const port = await starting.port();
      const server = new OwnMariaDb(port, folder, await launch(starting, folder, port));
      await server.query("create database if not exists shop", "mysql");
      return server;
    });
  }

  get url(): string {
    return `mysql://root@127.0.0.1:${this.port}/shop`;
  }

  /** Starts it again. */
  async start(): Promise<void> {
    this.#process = await startWithin("A MariaDB", (starting) => launch(starting, this.#folder, this.port), {
      port: this.port,
    });
  }

  async query(text: string, database = "shop"): Promise<readonly RowDataPacket[]> {
    const connection = await this.connect(database);
    try {
      return (await connection.query<RowDataPacket[]>(text))[0];
    } finally {
      await connection.end();
    }
  }

  connect(database = "shop"): Promise<Connection> {
    return createConnection({ host: "127.0.0.1", port: this.port, user: "root", database });
  }

  get isRunning(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  async kill(): Promise<void> {
    if (!this.isRunning) return;
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  freeze(): void {
    this.#process.kill("SIGSTOP");
  }

  thaw(): void {
    this.#process.kill("SIGCONT");
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function launch(starting: Starting, folder: string, port: number): Promise<ChildProcess> {
  const own = process.getuid?.() === 0 ? ["--user=root"] : [];
  const child = await starting.spawn("mariadbd", [
    "--no-defaults",
    ...own,
    `--datadir=${folder}`,
    `--port=${port}`,
    "--bind-address=127.0.0.1",
    `--socket=${join(folder, "socket")}`,
    `--pid-file=${join(folder, "pid")}`,
    "--innodb-flush-log-at-trx-commit=1",
    "--innodb-buffer-pool-size=32M",
    "--max-connections=30",
  ]);
  await starting.until(() => starting.log.includes("ready for connections"));
  return child;
}
