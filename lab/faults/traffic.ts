import { setTimeout as sleep } from "node:timers/promises";
import type { AppProcess, Got } from "./app-process.ts";
import type { Probe } from "./cell.ts";
import { SPILL_BYTES } from "./fault-app.ts";

const USERS = ["ann", "bob", "cid"];
const BETWEEN_MS = 50;

/** The clients of a cell: they send the probes, write and read sessions all the time, and know what was acknowledged. */
export class Traffic {
  readonly #app: AppProcess;
  readonly #cookies: readonly string[];
  readonly #rows: number[] = [];
  readonly #revocations: number[] = [];
  readonly #faults = new Set<string>();
  readonly #failures: string[] = [];
  #slowestMs = 0;
  #count = 0;
  #isOver = false;
  #loop: Promise<void> = Promise.resolve();

  private constructor(app: AppProcess, cookies: readonly string[]) {
    this.#app = app;
    this.#cookies = cookies;
  }

  /** Signs the users in, and begins. */
  static async start(app: AppProcess): Promise<Traffic> {
    const traffic = new Traffic(app, await Promise.all(USERS.map((name) => app.signIn(name))));
    traffic.#loop = traffic.#run();
    return traffic;
  }

  /** The numbers of acknowledged writes. */
  get rows(): readonly number[] {
    return this.#rows;
  }

  get revocations(): readonly number[] {
    return this.#revocations;
  }

  /** Users who were taken for another user, or for an anonymous one. */
  get mistakes(): readonly string[] {
    return [...this.#faults];
  }

  /** The requests that did not succeed. */
  get failures(): readonly string[] {
    return this.#failures;
  }

  /** How long a request took at most since `forgetTimes`. */
  get slowestMs(): number {
    return this.#slowestMs;
  }

  forgetTimes(): void {
    this.#slowestMs = 0;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#loop;
  }

  async probe(probe: Probe): Promise<number> {
    const began = performance.now();
    const status = await this.#send(probe);
    this.#slowestMs = Math.max(this.#slowestMs, performance.now() - began);
    if (status < 200 || status >= 300) this.#failures.push(`${status} for /${probe}`);
    return status;
  }

  async #send(probe: Probe): Promise<number> {
    if (probe === "session") return this.#session();
    if (probe === "upload") return this.#upload();
    const id = ++this.#count;
    const path = probe === "write" || probe === "revoke" ? `/${probe}/${id}` : `/${probe}`;
    const { status } = await this.#app.request(path);
    if (status >= 200 && status < 300) {
      if (probe === "write") this.#rows.push(id);
      if (probe === "revoke") this.#revocations.push(id);
    }
    return status;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      await Promise.all([this.probe("write"), this.probe("session")]);
      await sleep(BETWEEN_MS);
    }
  }

  async #session(): Promise<number> {
    const user = this.#count++ % USERS.length;
    const { status, text } = await this.#app.request("/me", { headers: { cookie: this.#cookies[user] ?? "" } });
    if (status === 401) this.#faults.add("a valid session got 401");
    if (status === 200 && JSON.parse(text) !== USERS[user]) this.#faults.add(`${USERS[user]} was taken for ${text}`);
    return status;
  }

  async #upload(): Promise<number> {
    const form = new FormData();
    const query = "mutation($file: Upload!) { size(file: $file) }";
    form.append("operations", JSON.stringify({ query, variables: { file: null } }));
    form.append("map", JSON.stringify({ 0: ["variables.file"] }));
    form.append("0", new Blob(["x".repeat(SPILL_BYTES * 100)], { type: "text/plain" }), "a.txt");
    return statusOf(await this.#app.request("/graphql", { method: "POST", body: form }));
  }
}

/** An operation that failed as a whole may have status 200. */
function statusOf({ status, text }: Got): number {
  return status === 200 && text.includes("SERVICE_UNAVAILABLE") ? 503 : status;
}
