import { Child } from "../../servers/child.ts";
import { Client, requestText } from "../overload/traffic.ts";
import type { Stats } from "../sockets/stats.ts";
import { PASSWORD, type ScalePlace, USERS, VISITORS } from "./scale-place.ts";

/** A kind of request that the fleet is measured by. */
export type Kind = "open route" | "route by session" | "page of 20 rows" | "GraphQL, 20 rows" | "sign-in";
/** How much of the traffic each kind is, by weights. */
export type Mix = Partial<Readonly<Record<Kind, number>>>;

/** CPU time of each part in microseconds for one request, and the time that clients waited. */
export interface Cost {
  readonly node: number;
  readonly redis: number;
  readonly postgres: number;
  readonly p90Ms: number;
  readonly perSecond: number;
}

const QUERY = "{ books { edges { node { id title author } } } }";

/** Several processes of one application, and clients that are signed in. */
export class Fleet {
  readonly #place: ScalePlace;
  readonly #children: readonly Child[];
  readonly #ports: readonly number[];
  readonly #cookies: readonly string[];

  private constructor(
    place: ScalePlace,
    children: readonly Child[],
    ports: readonly number[],
    cookies: readonly string[],
  ) {
    this.#place = place;
    this.#children = children;
    this.#ports = ports;
    this.#cookies = cookies;
  }

  static async start(place: ScalePlace, processes: number): Promise<Fleet> {
    const file = new URL("scale-server.ts", import.meta.url);
    const children = Array.from({ length: processes }, () => new Child(file, place.settings));
    try {
      const ports = await Promise.all(children.map((child) => child.hear<number>("port")));
      const cookies = await Promise.all(USERS.map((name, n) => signIn(ports[n % processes] ?? 0, name)));
      return new Fleet(place, children, ports, cookies);
    } catch (error) {
      for (const child of children) child.kill();
      throw error;
    }
  }

  /** Sends as many requests as the processes can handle, so that each compiles its code: so many seconds for each. */
  async warm(mix: Mix, seconds: number): Promise<void> {
    const next = this.#requests(mix);
    const clients = this.#ports.map((port) => new Client(port, next));
    await Promise.all(clients.map((client) => client.closedLoop(seconds * clients.length, 2)));
    for (const client of clients) client.close();
  }

  /** The requests of a mix for so many seconds, so many per second for all processes together. */
  async measure(mix: Mix, seconds: number, { perSecond: rate }: { readonly perSecond: number }): Promise<Cost> {
    const next = this.#requests(mix);
    const clients = this.#ports.map((port) => new Client(port, next));
    const before = await this.#cpu();
    const traffic = await Promise.all(clients.map((client) => client.openLoop(seconds, rate / clients.length)));
    const after = await this.#cpu();
    for (const client of clients) client.close();
    const failed = traffic.flatMap(({ outcomes }) => Object.keys(outcomes)).find((outcome) => outcome !== "200");
    if (failed !== undefined) throw new Error(`a request ended with ${failed}`);
    const perSecond = traffic.reduce((total, { goodput }) => total + goodput, 0);
    const each = (part: keyof typeof after): number => (after[part] - before[part]) / (perSecond * seconds);
    return {
      node: each("node"),
      redis: each("redis"),
      postgres: each("postgres"),
      p90Ms: Math.max(...traffic.map(({ p90Ms }) => p90Ms)),
      perSecond,
    };
  }

  stop(): void {
    for (const child of this.#children) child.kill();
  }

  async #cpu(): Promise<Readonly<Record<"node" | "redis" | "postgres", number>>> {
    const stats = await Promise.all(this.#children.map((child) => child.ask<Stats>("stats", { stats: "cpu" })));
    return { node: stats.reduce((total, { cpuMicros }) => total + cpuMicros, 0), ...(await this.#place.cpu()) };
  }

  /** Deals the kinds out in turn, so that every stretch of the traffic has the same mix. */
  #requests(mix: Mix): () => string {
    const kinds = Object.entries(mix) as [Kind, number][];
    const owed = new Map(kinds.map(([kind]) => [kind, 0]));
    let sent = 0;
    return () => {
      for (const [kind, weight] of kinds) owed.set(kind, (owed.get(kind) ?? 0) + weight);
      const [kind] = [...owed].reduce((most, entry) => (entry[1] > most[1] ? entry : most));
      owed.set(kind, (owed.get(kind) ?? 0) - kinds.reduce((total, [, weight]) => total + weight, 0));
      sent += 1;
      return textOf(kind, VISITORS[sent % VISITORS.length] ?? "", this.#cookies[sent % USERS.length] ?? "");
    };
  }
}

function textOf(kind: Kind, visitor: string, cookie: string): string {
  switch (kind) {
    case "open route":
      return requestText("GET", "/open");
    case "route by session":
      return requestText("GET", "/mine", { Cookie: cookie });
    case "page of 20 rows":
      return requestText("GET", "/books", { Cookie: cookie });
    case "GraphQL, 20 rows":
      return requestText("POST", "/graphql", { Cookie: cookie }, { query: QUERY });
    case "sign-in":
      return requestText("POST", "/account/login", {}, { identifier: visitor, password: PASSWORD });
  }
}

async function signIn(port: number, identifier: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/account/login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ identifier, password: PASSWORD }),
  });
  if (!response.ok) throw new Error(`sign-in: ${response.status}`);
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";", 1)[0])
    .join("; ");
}
