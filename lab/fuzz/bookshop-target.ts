import { randomBytes } from "node:crypto";
import { forgetKeys } from "../servers/forget-keys.ts";
import { ownSchema } from "../servers/own-schema.ts";
import { FuzzTarget } from "./fuzz-target.ts";
import type { FuzzServerSettings } from "./server.ts";

export interface BookshopTarget {
  readonly target: FuzzTarget;
  /** Ends the process and deletes its schema and keys. */
  readonly close: () => Promise<void>;
}

/** Starts the bookshop in a process of its own, with a schema and a Redis prefix that only this run uses. */
export async function bookshopTarget(): Promise<BookshopTarget> {
  const name = `fuzz_${randomBytes(6).toString("hex")}`;
  const redis = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
  const schema = await ownSchema(name);
  const settings: readonly [FuzzServerSettings, FuzzServerSettings] = [{ fillsTables: true }, { fillsTables: false }];
  const clear = async (): Promise<void> => {
    await schema.drop();
    await forgetKeys(redis, name);
  };
  try {
    const target = await FuzzTarget.start({
      file: new URL("server.ts", import.meta.url),
      // The shop imports the framework by its package name.
      execArgv: ["--import", new URL("../../examples/bookshop/test/doors.mjs", import.meta.url).href],
      env: { DATABASE_URL: schema.url, REDIS_URL: redis, REDIS_PREFIX: name, NODE_ENV: "development" },
      settings,
      probePath: "/books/book-1",
      recoveryMs: 60_000,
    });
    return {
      target,
      async close() {
        await target.end();
        await clear();
      },
    };
  } catch (error) {
    await clear();
    throw error;
  }
}
