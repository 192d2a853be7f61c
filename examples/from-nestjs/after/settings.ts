import { env } from "portico";

export const settings = {
  port: Number(env("PORT", "3000")),
  databaseUrl: `sqlite:${env("DATABASE", "tracker.db")}`,
  /** Signs the tokens, as before, and encrypts the cursors. */
  secret: env("SECRET", "the secret of the tracker for development"),
  audience: "tracker",
};
