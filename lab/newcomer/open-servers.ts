import { forgetKeys } from "../servers/forget-keys.ts";
import { ownSchema } from "../servers/own-schema.ts";

export interface OpenServers {
  /** The variables of the application with their addresses. */
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** PostgreSQL and Redis for the template api, with a schema and a prefix of this run. */
export async function openServers(apiName: string): Promise<OpenServers> {
  const redis = process.env["REDIS_URL"] ?? "redis://127.0.0.1:6379";
  const schema = await ownSchema(apiName.replace("-", "_"));
  return {
    env: { DATABASE_URL: schema.url, REDIS_URL: redis },
    close: async () => {
      await schema.drop();
      // The prefix is the name of the application.
      await forgetKeys(redis, apiName);
    },
  };
}
