import { sql } from "drizzle-orm";
import { drizzle, type NodePgDatabase } from "drizzle-orm/node-postgres";
import { Pool } from "pg";
import { hashPassword } from "./passwords.ts";
import type { Settings } from "./settings.ts";
import { auditEntries, customers, orderLines, orders } from "./tables.ts";

export type Database = NodePgDatabase;

/** The open database of one version of the application. */
export interface OpenDatabase {
  readonly db: Database;
  readonly close: () => Promise<void>;
}

const SCHEMA_NAME = /^[a-z_][a-z\d_]*$/;

/** Opens the database and creates the tables and their sample rows, unless they exist. */
export async function openDatabase(
  { databaseUrl, databaseSchema }: Pick<Settings, "databaseUrl" | "databaseSchema">,
  logQuery: (statement: string) => void = () => undefined,
): Promise<OpenDatabase> {
  if (!SCHEMA_NAME.test(databaseSchema)) throw new Error("DATABASE_SCHEMA must be a plain name");
  const pool = new Pool({ connectionString: databaseUrl, options: `-c search_path=${databaseSchema}`, max: 5 });
  const db = drizzle(pool, { logger: { logQuery } });
  await db.execute(sql.raw(`create schema if not exists ${databaseSchema}`));
  await db.execute(sql.raw(TABLES));
  if ((await db.$count(customers)) === 0) await addSampleRows(db);
  return { db, close: () => pool.end() };
}

const TABLES = `
  create table if not exists customers (
    id text primary key, email text not null unique, name text not null, password_hash text not null,
    is_staff integer not null default 0
  );
  create table if not exists orders (
    id text primary key, customer_id text not null references customers, status text not null,
    total_cents integer not null, created_at timestamptz(3) not null
  );
  create index if not exists orders_newest on orders (created_at, id);
  create index if not exists orders_of_customer on orders (customer_id, created_at, id);
  create index if not exists orders_by_total on orders (total_cents, id);
  create table if not exists order_lines (
    id text primary key, order_id text not null references orders, product text not null, quantity integer not null
  );
  create index if not exists lines_of_order on order_lines (order_id, id);
  create table if not exists audit_entries (id integer primary key, entry text not null);
`;

export const PASSWORD = "correct horse battery";
const ORDERS = 60;
const BEGINNING = Date.UTC(2026, 0, 1);

async function addSampleRows(db: Database): Promise<void> {
  const passwordHash = hashPassword(PASSWORD);
  await db.insert(customers).values(
    ["ann", "bob", "staff"].map((id) => ({
      id,
      email: `${id}@shop.example`,
      name: `${id[0]?.toUpperCase()}${id.slice(1)}`,
      passwordHash,
      isStaff: id === "staff" ? 1 : 0,
    })),
  );
  const numbers = Array.from({ length: ORDERS }, (_, index) => index + 1);
  await db.insert(orders).values(
    numbers.map((number) => ({
      id: `o${number}`,
      customerId: number % 3 === 0 ? "bob" : "ann",
      status: number % 4 === 0 ? "shipped" : "open",
      totalCents: (number * 37) % 1000,
      // Every second order has the time of the one before it.
      createdAt: new Date(BEGINNING + Math.floor(number / 2) * 60_000),
    })),
  );
  await db
    .insert(orderLines)
    .values(
      numbers.flatMap((number) =>
        ["tea", "cups"].map((product) => ({ id: `${product}${number}`, orderId: `o${number}`, product, quantity: 2 })),
      ),
    );
  await db.insert(auditEntries).values({ id: 1, entry: "opened the shop" });
}
