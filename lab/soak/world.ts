import { Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { people } from "./soak-settings.ts";

/** One thing that a client does, and how often it is done beside the others. It rejects when the server answers wrongly. */
export interface Action {
  readonly name: string;
  readonly weight: number;
  run(world: World): Promise<void>;
}

export interface Ask {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** An object is sent as JSON. */
  readonly body?: string | Buffer | object;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A person who signs in. */
export interface Person {
  readonly name: string;
  /** Of their own: limits count by it. */
  readonly address: string;
}

/** Where the clients are: the server's port, connections that are kept, and the people they sign in as. */
export class World {
  readonly port: number;
  readonly agent: Agent = new Agent({ keepAlive: true, maxSockets: 64 });
  /** Answers by their status; what broke off counts as 0. */
  readonly statuses: Map<number, number> = new Map();
  readonly members: readonly Person[] = people.members.map((name, index) => ({ name, address: `10.1.0.${index}` }));
  readonly targets: readonly Person[] = people.targets.map((name, index) => ({ name, address: `10.2.0.${index}` }));
  readonly #visitors: Person[] = people.visitors.map((name, index) => ({ name, address: `10.3.0.${index}` }));
  readonly #tokens = new Map<string, Promise<Tokens>>();

  constructor(port: number) {
    this.port = port;
  }

  /** Sends a request and reads its answer. Throws when the status is none of those. */
  async ask(ask: Ask, ...expected: number[]): Promise<Answer> {
    const answer = await this.send(ask);
    this.note(answer.status);
    if (!expected.includes(answer.status))
      throw new Error(
        `${ask.path} answered ${answer.status}, not ${expected.join(" or ")}: ${answer.text.slice(0, 300)}`,
      );
    return answer;
  }

  graph(body: object, ask: Partial<Ask> = {}, ...expected: number[]): Promise<Answer> {
    const status = expected.length === 0 ? [200] : expected;
    return this.ask({ method: "POST", path: "/graphql", body, ...ask }, ...status);
  }

  note(status: number): void {
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  /** A member, and the header by which they are known. */
  async signedIn(): Promise<{ readonly person: Person; readonly headers: Readonly<Record<string, string>> }> {
    const person = pick(this.members);
    const { access } = await this.#tokensOf(person);
    return { person, headers: { authorization: `Bearer ${access}` } };
  }

  /** Lends a user who isn't signed in anywhere, to one borrower at a time. */
  async visit(work: (visitor: Person) => Promise<void>): Promise<void> {
    const visitor = this.#visitors.shift();
    if (visitor === undefined) return;
    try {
      await work(visitor);
    } finally {
      // At the end of the line: their limits have time.
      this.#visitors.push(visitor);
    }
  }

  /** Signs all members out. */
  async leave(): Promise<void> {
    for (const [name, tokens] of this.#tokens) {
      const { refresh } = await tokens;
      await this.ask({ method: "POST", path: "/account/logout", body: { refresh_token: refresh } }, 204);
      this.#tokens.delete(name);
    }
    this.agent.destroy();
  }

  open(ask: Ask, onAnswer: (answer: IncomingMessage) => void): ClientRequest {
    const body = bytesOf(ask.body);
    const asked = request({
      port: this.port,
      host: "127.0.0.1",
      method: ask.method ?? "GET",
      path: ask.path,
      agent: this.agent,
      headers: {
        ...(typeof ask.body === "object" && !Buffer.isBuffer(ask.body) ? { "content-type": "application/json" } : {}),
        ...(body === undefined ? {} : { "content-length": body.length }),
        ...ask.headers,
      },
    });
    asked.on("response", onAnswer);
    asked.end(body);
    return asked;
  }

  /** Rejects only when the connection breaks. */
  send(ask: Ask): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const asked = this.open(ask, (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (chunk: string) => (text += chunk));
        answer.on("end", () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
        answer.on("error", reject);
      });
      asked.on("error", (error) => reject(new Error(`${ask.path}: ${error.message}`, { cause: error })));
    });
  }

  /** Renewed now and then, by one of those who ask at the same time. */
  #tokensOf(person: Person): Promise<Tokens> {
    const known = this.#tokens.get(person.name);
    const next = known === undefined ? this.#signIn(person) : known.then((tokens) => this.#renew(tokens));
    this.#tokens.set(person.name, next);
    return next;
  }

  async #signIn({ name, address }: Person): Promise<Tokens> {
    const body = { identifier: name, password: people.password };
    const headers = { "x-forwarded-for": address };
    return readTokens(await this.ask({ method: "POST", path: "/account/token", headers, body }, 200));
  }

  async #renew(tokens: Tokens): Promise<Tokens> {
    if (performance.now() - tokens.at < RENEW_MS) return tokens;
    const body = { refresh_token: tokens.refresh };
    return readTokens(await this.ask({ method: "POST", path: "/account/refresh", body }, 200));
  }
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
  readonly at: number;
}

const RENEW_MS = 9_000;

export function readTokens({ text }: Answer): Tokens {
  const { access_token, refresh_token } = JSON.parse(text) as { access_token: string; refresh_token: string };
  return { access: access_token, refresh: refresh_token, at: performance.now() };
}

export function pick<T>(choices: readonly T[]): T {
  return choices[Math.floor(Math.random() * choices.length)] as T;
}

function bytesOf(body: Ask["body"]): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}
