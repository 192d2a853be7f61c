import { setTimeout as sleep } from "node:timers/promises";
import { decodeJwt } from "jose";
import { people } from "../soak-settings.ts";
import { type Answer, type Ask, type Person, pick, readTokens, type World } from "../world.ts";
import { WriteRecord } from "./acknowledged-writes.ts";
import { codesOf, type Excuse, judgeAnswer, judgeBreak, judgeErrors } from "./documented-outcomes.ts";
import type { FaultWindows } from "./fault-windows.ts";
import { type Credential, IdentityRecord } from "./identity-record.ts";

/** Longer than every deadline on the way of a request together: for the session, for a connection, for a statement. */
export const TIMEOUT_MS = 15_000;
const RENEW_MS = 240_000;
const SESSIONS = 8;

interface TimedCredential extends Credential {
  readonly at: number;
}

/** Clients that expect a response to every request, and know which faults excuse which failures. */
export class SteadyClient {
  readonly world: World;
  readonly windows: FaultWindows;
  readonly writes: WriteRecord = new WriteRecord();
  readonly identities: IdentityRecord = new IdentityRecord();
  readonly #sessions: Credential[] = [];
  #token: TimedCredential | null = null;

  constructor(world: World, windows: FaultWindows) {
    this.world = world;
    this.windows = windows;
  }

  /** Signs in before the first fault. The sessions have to survive all of them. */
  async signIn(): Promise<void> {
    for (const person of this.world.members.slice(0, SESSIONS)) this.#sessions.push(await this.#login(person));
    await this.checkToken();
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

  /** Sends a request with a valid credential. An outage may fail it, but a 401 is recorded as a refusal. */
  askAs(credential: Credential, ask: Ask, excuse: Excuse = () => false): Promise<Answer> {
    return this.ask({ ...ask, headers: credential.headers }, 200, (status, faults) => {
      const reason = excuse(status, faults);
      if (status === 401 && reason === false) this.identities.refuse(credential, ask.path);
      return reason;
    });
  }

  async graph(query: string, variables: object = {}, credential: Credential | null = null): Promise<unknown> {
    const start = performance.now();
    const ask = { method: "POST", path: "/graphql", body: { query, variables } };
    const { text } = await (credential === null ? this.ask(ask, 200) : this.askAs(credential, ask));
    const { data, errors } = JSON.parse(text) as { readonly data?: unknown; readonly errors?: unknown };
    if (credential !== null && codesOf(errors).includes("UNAUTHENTICATED")) this.identities.refuse(credential, "me");
    judgeErrors(errors, this.windows.since(start));
    return data;
  }

  /** One of the sessions from before the first fault. */
  session(): Credential {
    return pick(this.#sessions);
  }

  /** Compares the user that a route and a resolver see with the owner of the session. */
  async checkSession(): Promise<void> {
    const session = this.session();
    await this.#checkRoute(session);
    const { me } = (await this.graph("{ me }", {}, session)) as { readonly me?: unknown };
    this.identities.compare(session, "me", me);
  }

  /** A request with an access token, which only a process whose clock is wrong at that moment may refuse. */
  async checkToken(): Promise<void> {
    if (this.#token === null || performance.now() - this.#token.at > RENEW_MS) this.#token = await this.#newToken();
    if (this.#token === null) return;
    const start = performance.now();
    const isExcused = (): boolean => this.windows.during(start).has("clock");
    await this.#checkRoute(this.#token, (status) => status === 401 && isExcused() && "401");
  }

  /** Returns `null` while the clock of the process is wrong: it then issues tokens that are valid at another time. */
  async #newToken(): Promise<TimedCredential | null> {
    const start = performance.now();
    const person = pick(this.world.members);
    const { access, at } = readTokens(await this.#signInBy("/account/token", person));
    if (isValidNow(access)) return { name: person.name, headers: { authorization: `Bearer ${access}` }, at };
    if (this.windows.during(start).has("clock")) return null;
    throw new Error("a new access token is not valid now");
  }

  /** Signs in and out again. A session that was ended with 204 stays ended. */
  async visit(visitor: Person): Promise<void> {
    const session = await this.#login(visitor);
    const { headers } = session;
    await this.#checkRoute(session);
    await this.ask({ method: "POST", path: "/account/logout", headers, body: {} }, 204);
    await this.ask({ path: "/private", headers }, 401);
  }

  async #checkRoute(credential: Credential, excuse?: Excuse): Promise<void> {
    const { text } = await this.askAs(credential, { path: "/private" }, excuse);
    this.identities.compare(credential, "/private", (JSON.parse(text) as { readonly name?: unknown }).name);
  }

  async #login(person: Person): Promise<Credential> {
    const { headers } = await this.#signInBy("/account/login", person);
    const cookie = headers["set-cookie"]?.[0]?.split(";")[0];
    if (cookie === undefined) throw new Error("a login without a cookie");
    return { name: person.name, headers: { cookie } };
  }

  #signInBy(path: string, { name, address }: Person): Promise<Answer> {
    const body = { identifier: name, password: people.password };
    return this.ask({ method: "POST", path, body, headers: { "x-forwarded-for": address } }, 200);
  }
}

/** By the clock of the clients, which no fault moves: already issued, and valid for as long as it is used. */
function isValidNow(token: string): boolean {
  const { iat = Number.NaN, exp = Number.NaN } = decodeJwt(token);
  return iat * 1_000 <= Date.now() && Date.now() + RENEW_MS < exp * 1_000;
}

/** Rejects when `work` takes longer than any documented deadline. */
export async function withinPatience<T>(what: string, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = sleep(TIMEOUT_MS, undefined, { signal: over.signal, ref: false }).then(() => {
    throw new Error(`${what} hangs for more than ${TIMEOUT_MS / 1000} s`);
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}
