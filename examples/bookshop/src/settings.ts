import { env } from "portico";

const isProduction = process.env["NODE_ENV"] === "production";

/** Environment-specific settings. The defaults fit the servers in compose.yaml. */
export const settings = {
  isProduction,
  port: Number(env("PORT", "3000")),
  databaseUrl: env("DATABASE_URL", "postgres://postgres:postgres@127.0.0.1:5432/bookshop"),
  /** Streaming replicas for the lists of books and authors, separated by spaces. */
  replicaUrls: env("REPLICA_URLS", "").split(" ").filter(Boolean),
  redisUrl: env("REDIS_URL", "redis://127.0.0.1:6379"),
  /** Applications that share a Redis need different prefixes. */
  redisPrefix: env("REDIS_PREFIX", "bookshop"),
  /**
   * The public URL of the shop, with which links start. Without it, links in pages start with the URL of the request,
   * and links in emails with the address on which the shop listens.
   */
  publicUrl: process.env["PUBLIC_URL"],
  /** The OAuth app with which users sign in with GitHub. Its callback URL is `/account/providers/github/callback`. */
  github: githubApp(process.env["GITHUB_CLIENT_ID"]),
  /** Signs sessions and tokens and encrypts cursors, each with a separate key derived from it. */
  secret: secret("SECRET"),
};

function githubApp(clientId: string | undefined): { clientId: string; clientSecret: string } | null {
  return clientId === undefined ? null : { clientId, clientSecret: env("GITHUB_CLIENT_SECRET") };
}

/** The development secret is public, so production requires a real one. */
function secret(name: string): string {
  return isProduction ? env(name) : env(name, `the ${name} for development, which is not a real secret`);
}
