import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, type Ask, World } from "../soak/world.ts";
import { PASSWORD } from "./fill-users.ts";

/** A session that the server has acknowledged. */
export interface Session {
  readonly name: string;
  readonly cookie: string;
  readonly at: number;
  /** Whether a request to end it was sent, and whether the server acknowledged it. */
  state: "open" | "ending" | "ended";
}

const SHARES = { signIn: 0.02, signOut: 0.02 };

/** Users who sign in, sign out and ask who they are, all the time and on all processes. */
export class Callers {
  readonly sessions: Session[] = [];
  /** Responses that name another user than the owner of the session. */
  mistaken = 0;
  /** Responses 200 to a session whose end had been acknowledged. */
  revived = 0;
  /** Responses 401 to an open session. */
  refused = 0;
  readonly outcomes: Map<number, number> = new Map();
  readonly #names: readonly string[];
  readonly #worlds: readonly World[];
  #isStopped = false;

  constructor(ports: readonly number[], names: readonly string[]) {
    this.#names = names;
    this.#worlds = ports.map((port) => new World(port));
  }

  /** Sends so many requests per second until `stop`. */
  async run(perSecond: number): Promise<void> {
    const began = performance.now();
    const open = new Set<Promise<void>>();
    let sent = 0;
    while (!this.#isStopped) {
      const due = ((performance.now() - began) / 1000) * perSecond;
      // Those that wait for an outage to end are not followed by thousands of others.
      for (; sent < due; sent++) {
        if (open.size > perSecond) continue;
        const request = this.#act().finally(() => open.delete(request));
        open.add(request);
      }
      await sleep(5);
    }
    await Promise.all(open);
    for (const { agent } of this.#worlds) agent.destroy();
  }

  stop(): void {
    this.#isStopped = true;
  }

  async signIn(process: number): Promise<boolean> {
    const name = pick(this.#names);
    const body = { identifier: name, password: PASSWORD };
    const answer = await this.#send(process, { method: "POST", path: "/account/login", body });
    if (answer?.status !== 200) return false;
    const cookie = (answer.headers["set-cookie"] ?? []).map((text) => text.split(";", 1)[0]).join("; ");
    this.sessions.push({ name, cookie, at: performance.now(), state: "open" });
    return true;
  }

  /** Returns the status, or 0 when there was no response. */
  async whoIs(process: number, session: Session): Promise<number> {
    const wasEnded = session.state === "ended";
    const answer = await this.#send(process, { path: "/who", headers: { cookie: session.cookie } });
    if (answer?.status === 200) {
      if ((JSON.parse(answer.text) as { readonly name: string }).name !== session.name) this.mistaken += 1;
      if (wasEnded) this.revived += 1;
    }
    if (answer?.status === 401 && session.state === "open") this.refused += 1;
    return answer?.status ?? 0;
  }

  async signOut(process: number, session: Session): Promise<void> {
    session.state = "ending";
    const headers = { cookie: session.cookie };
    const answer = await this.#send(process, { method: "POST", path: "/account/logout", headers });
    if (answer?.status === 204) session.state = "ended";
  }

  async tick(process: number, n: number): Promise<boolean> {
    return ((await this.#send(process, { method: "POST", path: `/tick/${n}` }))?.status ?? 500) < 300;
  }

  async #act(): Promise<void> {
    const process = Math.floor(Math.random() * this.#worlds.length);
    const chance = Math.random();
    if (chance < SHARES.signIn || this.sessions.length === 0) return void (await this.signIn(process));
    const session = pick(this.sessions);
    const isLeaving = chance < SHARES.signIn + SHARES.signOut && session.state === "open" && this.sessions.length > 10;
    await (isLeaving ? this.signOut(process, session) : this.whoIs(process, session));
  }

  async #send(process: number, ask: Ask): Promise<Answer | null> {
    const answer = await this.#worlds[process]?.send(ask).catch(() => null);
    const status = answer?.status ?? 0;
    this.outcomes.set(status, (this.outcomes.get(status) ?? 0) + 1);
    return answer ?? null;
  }
}

function pick<T>(choices: readonly T[]): T {
  return choices[Math.floor(Math.random() * choices.length)] as T;
}
