import { fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import type { RollingServerSettings } from "../../rolling/server.ts";
import { Child } from "../../servers/child.ts";
import { forgetKeys } from "../../servers/forget-keys.ts";
import { ownSchema } from "../../servers/own-schema.ts";
import { heard } from "../sockets/heard.ts";
import { ANN } from "./ann.ts";
import { Client, requestText } from "./traffic.ts";

/** A server to overload. */
export interface Target {
  readonly pid: number;
  /** Sends the requests of the overload. */
  readonly client: Client;
  /** Sends some requests to another route. */
  readonly other?: Client;
  close(): Promise<void>;
}

const LOGIN = "/account/login";
const SEED = { books: 20_000, users: 40 };
const SIGNED_IN = 20;
const NO_LIMIT = 1_000_000_000;
const EXIT_MS = 10_000;
const QUERY = "{ books(first: 10) { nodes { title author { name } stars } } }";

/** What can be overloaded, by name. */
export const TARGETS: Readonly<Record<string, () => Promise<Target>>> = {
  "/page": () => route((port) => Client.get(port, "/page")),
  "/plain": () => route((port) => Client.get(port, "/plain")),
  [LOGIN]: () =>
    route(
      (port) => Client.post(port, LOGIN, ANN),
      (port) => Client.get(port, "/plain"),
    ),
  bookshop: shop,
};

type Connect = (port: number) => Client;

async function route(connect: Connect, connectOthers?: Connect): Promise<Target> {
  const server = fork(new URL("server.ts", import.meta.url));
  const { port } = await heard<{ readonly port: number }>(server, "port");
  return {
    pid: server.pid as number,
    client: connect(port),
    ...(connectOthers === undefined ? {} : { other: connectOthers(port) }),
    async close() {
      server.disconnect();
      if (server.exitCode === null) await once(server, "exit");
    },
  };
}

/** The example, with PostgreSQL and Redis. Its limits per client are raised, because the clients have few addresses. */
async function shop(): Promise<Target> {
  const place = `overload_${randomBytes(6).toString("hex")}`;
  const redis = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
  const schema = await ownSchema(place);
  const settings: RollingServerSettings = {
    seed: SEED,
    app: { budget: { userPerMinute: NO_LIMIT, addressPerMinute: NO_LIMIT, maxInFlight: NO_LIMIT } },
  };
  const child = new Child(
    new URL("../../rolling/server.ts", import.meta.url),
    settings,
    ["--no-warnings", "--import", new URL("../../../examples/bookshop/test/doors.mjs", import.meta.url).href],
    { DATABASE_URL: schema.url, REDIS_URL: redis, REDIS_PREFIX: place },
  );
  const close = async (): Promise<void> => {
    child.kill();
    await child.ended(EXIT_MS);
    await forgetKeys(redis, place);
    await schema.drop();
  };
  try {
    const port = await child.hear<number>("port");
    return { pid: child.pid, client: new Client(port, mix(await tokens(port))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function tokens(port: number): Promise<readonly string[]> {
  const signingIn = Array.from({ length: SIGNED_IN }, async (_, n) => {
    const answer = await fetch(`http://127.0.0.1:${port}/account/token`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ identifier: `reader${n + 1}`, password: "correct horse battery" }),
    });
    const { access_token: token } = (await answer.json()) as { readonly access_token: string };
    return token;
  });
  return Promise.all(signingIn);
}

/** One book, a page of them, a GraphQL list, the own account and orders, always in the same order. */
function mix(given: readonly string[]): () => string {
  let count = 0;
  return () => {
    const n = (count++ * 7_919) % 100_003;
    const book = `book-${1 + (n % SEED.books)}`;
    const signedIn = { Authorization: `Bearer ${given[n % given.length]}` };
    const kind = n % 97;
    if (kind < 20) return requestText("GET", `/books/${book}`);
    if (kind < 40) return requestText("GET", "/books/newest?page_size=20");
    if (kind < 75) return requestText("POST", "/graphql", {}, { query: QUERY });
    if (kind < 85) return requestText("GET", "/account/me", signedIn);
    const order = `mutation { placeOrder(books: [{ book: "${book}" }]) { id } }`;
    return requestText("POST", "/graphql", signedIn, { query: order });
  };
}
