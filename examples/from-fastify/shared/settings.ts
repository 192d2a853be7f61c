const { env } = process;

/** The settings of both versions, from the environment. */
export const settings = {
  databaseUrl: env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/test",
  databaseSchema: env["DATABASE_SCHEMA"] ?? "from_fastify",
  secret: env["SECRET"] ?? "a secret for development, 32 bytes or more",
  port: Number(env["PORT"] ?? 3000),
};
export type Settings = typeof settings;
