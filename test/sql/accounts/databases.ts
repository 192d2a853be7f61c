import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { type Database, type DatabaseOptions, migrate, openDatabase, type PorticoTables } from "portico/sql";

export type EngineName = "PostgreSQL" | "SQLite";
export const engineNames: readonly EngineName[] = ["PostgreSQL", "SQLite"];

/** A separate database that is removed at the end. */
export interface Place {
  readonly url: string;
  /** Opens it again, as another process would. It is closed with the place. */
  open<DB extends PorticoTables = PorticoTables>(options?: DatabaseOptions): Database<DB>;
  remove(): Promise<void>;
}

export async function newPlace(name: EngineName): Promise<Place> {
  const opened: Database[] = [];
  const { url, drop } = await PLACES[name]();
  return {
    url,
    open(options) {
      const database = openDatabase<any>(url, options);
      opened.push(database);
      return database;
    },
    async remove() {
      await Promise.all(opened.map((database) => database.destroy()));
      await drop();
    },
  };
}

/** A place with Portico's tables. */
export async function migratedPlace(name: EngineName): Promise<Place> {
  const place = await newPlace(name);
  await migrate(place.open({ poolSize: 2 }), "up");
  return place;
}

/** Runs a statement on the PostgreSQL server, separately from the tested connections. */
export async function onServer<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: SERVER });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

const SERVER = "postgres://root@127.0.0.1:5432/test";

const PLACES: Readonly<Record<EngineName, () => Promise<{ url: string; drop: () => Promise<unknown> }>>> = {
  PostgreSQL: async () => {
    const schema = `portico_${randomUUID().replaceAll("-", "")}`;
    await onServer(`create schema ${schema}`);
    return {
      url: `${SERVER}?options=${encodeURIComponent(`-c search_path=${schema}`)}`,
      drop: () => onServer(`drop schema ${schema} cascade`),
    };
  },
  SQLite: async () => {
    const file = join(tmpdir(), `portico-${randomUUID()}.db`);
    return {
      url: `sqlite:${file}`,
      drop: async () => {
        for (const ending of ["", "-wal", "-shm"]) rmSync(`${file}${ending}`, { force: true });
      },
    };
  },
};
