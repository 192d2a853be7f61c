import { setTimeout as sleep } from "node:timers/promises";
import { WriteRecord } from "./acknowledged-writes.ts";
import { type Excuse, judgeAnswer, judgeBreak, judgeErrors } from "./documented-outcomes.ts";
import type { FaultWindows } from "./fault-windows.ts";
import { people } from "./soak-settings.ts";
import { type Answer, type Ask, type Person, pick, readTokens, type World } from "./world.ts";

/** Longer than every deadline on the way of a request together: for the session, for a connection, for a statement. */
export const PATIENCE_MS = 15_000;
const RENEW_MS = 240_000;
const SESSIONS = 8;

/** Clients that expect a response to every request, and know which faults excuse which failures. */
export class SteadyClient {
  readonly world: World;
  readonly windows: FaultWindows;
  readonly writes: WriteRecord = new WriteRecord();
  readonly #cookies: string[] = [];
  #token: { readonly access: string; readonly at: number } | null = null;

  constructor(world: World, windows: FaultWindows) {
    this.world = world;
    this.windows = windows;
  }

  /** Signs in before the first fault. The sessions have to survive all of them. */
  async signIn(): Promise<void> {
    for (const person of this.world.members.slice(0, SESSIONS)) this.#cookies.push(await this.#login(person));
    await this.askWithToken("/private");
  }

  /** Sends a request. Throws unless it is answered as expected, `Excused` when the failure is a documented one. */
  async ask(ask: Ask, expected: number, excuse?: Excuse): Promise<Answer> {
    const start = performance.now();
    const answer = await withinPatience(ask.path, this.world.send(ask)).catch((error: unknown) => {
      this.world.note(0);
      return judgeBreak(error, this.windows.since(start));
    });
    this.world.note(answer.status);
    judgeAnswer(answer, expected, this.windows.since(start), excuse);
    return answer;
  }

  async graph(query: string, variables: object = {}): Promise<unknown> {
    const start = performance.now();
    const { text } = await this.ask({ method: "POST", path: "/graphql", body: { query, variables } }, 200);
    const { data, errors } = JSON.parse(text) as { readonly data?: unknown; readonly errors?: unknown };
    judgeErrors(errors, this.windows.since(start));
    return data;
  }

  session(): { readonly cookie: string } {
    return { cookie: pick(this.#cookies) };
  }

  /** A request with an access token. A process whose clock is wrong may refuse it, and makes none that is valid later. */
  async askWithToken(path: string): Promise<void> {
    if (this.#token === null || performance.now() - this.#token.at > RENEW_MS) {
      if (this.windows.since(performance.now()).has("clock")) return;
      this.#token = readTokens(await this.#signInBy("/account/token", pick(this.world.members)));
    }
    const headers = { authorization: `Bearer ${this.#token.access}` };
    await this.ask({ path, headers }, 200, (status, faults) => status === 401 && faults.has("clock") && "401");
  }

  /** Signs in and out again. A session that was ended with 204 stays ended. */
  async visit(visitor: Person): Promise<void> {
    const headers = { cookie: await this.#login(visitor) };
    await this.ask({ path: "/private", headers }, 200);
    await this.ask({ method: "POST", path: "/account/logout", headers, body: {} }, 204);
    await this.ask({ path: "/private", headers }, 401);
  }

  async #login(person: Person): Promise<string> {
    const { headers } = await this.#signInBy("/account/login", person);
    const cookie = headers["set-cookie"]?.[0]?.split(";")[0];
    if (cookie === undefined) throw new Error("a login without a cookie");
    return cookie;
  }

  #signInBy(path: string, { name, address }: Person): Promise<Answer> {
    const body = { identifier: name, password: people.password };
    return this.ask({ method: "POST", path, body, headers: { "x-forwarded-for": address } }, 200);
  }
}

/** Rejects when `work` takes longer than any documented deadline. */
export async function withinPatience<T>(what: string, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`${what} hangs for more than ${PATIENCE_MS / 1000} s`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}
