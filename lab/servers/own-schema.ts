import { Client } from "pg";

/** A schema of PostgreSQL that only this run uses. */
export interface OwnSchema {
  /** Connections with this URL use the schema. */
  readonly url: string;
  drop(): Promise<void>;
}

export async function ownSchema(name: string): Promise<OwnSchema> {
  const postgres = process.env["DATABASE_URL"] ?? "postgres://root@127.0.0.1:5432/test";
  await inPostgres(postgres, `create schema ${name}`);
  return {
    url: `${postgres}${postgres.includes("?") ? "&" : "?"}options=-c%20search_path%3D${name}`,
    drop: () => inPostgres(postgres, `drop schema ${name} cascade`),
  };
}

async function inPostgres(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
