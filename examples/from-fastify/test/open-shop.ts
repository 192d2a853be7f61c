import { randomBytes } from "node:crypto";
import { sql } from "drizzle-orm";
import { shopAfter } from "../after/app.ts";
import { shopBefore } from "../before/app.ts";
import { type Database, openDatabase, PASSWORD } from "../shared/database.ts";
import { settings } from "../shared/settings.ts";

/** A version of the shop that listens, with its own tables. */
export interface Shop {
  readonly name: "before" | "after";
  /** The statements that the shop has sent. */
  readonly statements: string[];
  get(path: string, token?: string): Promise<Reply>;
  post(path: string, body: unknown, token?: string): Promise<Reply>;
  graphql(query: string, token?: string, variables?: object): Promise<{ data: any; errors: readonly unknown[] }>;
  tokenOf(customer: string): Promise<string>;
}
interface Reply {
  readonly status: number;
  readonly body: any;
}

export interface Shops extends AsyncDisposable {
  readonly before: Shop;
  readonly after: Shop;
  readonly db: Database;
}

/** Starts both versions over the same tables. */
export async function openShops(): Promise<Shops> {
  const place = { ...settings, databaseSchema: `from_fastify_${randomBytes(6).toString("hex")}` };
  const open = async (name: Shop["name"]) => {
    const statements: string[] = [];
    const { db, close } = await openDatabase(place, (statement) => void statements.push(statement));
    const fastify = await { before: shopBefore, after: shopAfter }[name](db, settings);
    const url = await fastify.listen({ port: 0, host: "127.0.0.1" });
    const end = async (): Promise<void> => {
      await fastify.close();
      await close();
    };
    return { shop: shopAt(name, url, statements), db, end };
  };
  const before = await open("before");
  const after = await open("after");
  return {
    before: before.shop,
    after: after.shop,
    db: after.db,
    async [Symbol.asyncDispose]() {
      await before.end();
      await after.db.execute(sql.raw(`drop schema ${place.databaseSchema} cascade`));
      await after.end();
    },
  };
}

function shopAt(name: Shop["name"], url: string, statements: string[]): Shop {
  const send = async (path: string, token: string | undefined, init: RequestInit = {}): Promise<Reply> => {
    const headers = {
      ...(init.body === undefined ? {} : { "content-type": "application/json" }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const response = await fetch(url + path, { ...init, headers });
    return { status: response.status, body: await response.json() };
  };
  const post: Shop["post"] = (path, body, token) => send(path, token, { method: "POST", body: JSON.stringify(body) });
  return {
    name,
    statements,
    get: send,
    post,
    async graphql(query, token, variables = {}) {
      const { body } = await post("/graphql", { query, variables }, token);
      return { data: body.data, errors: body.errors ?? [] };
    },
    async tokenOf(customer) {
      const { body } = await post("/login", { email: `${customer}@shop.example`, password: PASSWORD });
      return body.token;
    },
  };
}
