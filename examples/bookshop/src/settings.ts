import { env } from "portico";

const isProduction = process.env["NODE_ENV"] === "production";

/** What differs from place to place. The defaults fit the servers of compose.yaml. */
export const settings = {
  isProduction,
  port: Number(env("PORT", "3000")),
  databaseUrl: env("DATABASE_URL", "postgres://postgres:postgres@127.0.0.1:5432/bookshop"),
  redisUrl: env("REDIS_URL", "redis://127.0.0.1:6379"),
  /** Applications that share a Redis differ in it. */
  redisPrefix: env("REDIS_PREFIX", "bookshop"),
  /**
   * How clients reach the shop: links begin with it. Without one, those of pages begin as the request's own address does, and
   * those in mails lead to where the shop listens.
   */
  publicUrl: process.env["PUBLIC_URL"],
  /** Signs sessions and tokens and encrypts the cursors of lists, each with its own key that is derived from it. */
  secret: secret("SECRET"),
};

/** Everybody can read the one for development here: in production it has to be yours. */
function secret(name: string): string {
  return isProduction ? env(name) : env(name, `the ${name} of developers, which is none at all`);
}
