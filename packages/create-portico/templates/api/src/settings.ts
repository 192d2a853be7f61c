import { env } from "portico";

const isProduction = process.env["NODE_ENV"] === "production";

/** Everything that differs between environments. .env.example lists the variables. */
export const settings = {
  isProduction,
  host: env("HOST", "127.0.0.1"),
  port: Number(env("PORT", "3000")),
  /** Links start with it. In development, they start with the address of the request. */
  publicUrl: isProduction ? env("PUBLIC_URL") : undefined,
  databaseUrl: env("DATABASE_URL"),
  redisUrl: env("REDIS_URL"),
  /** Signs sessions and tokens and encrypts cursors, each with a separate key derived from it. */
  secret: env("SECRET"),
};
