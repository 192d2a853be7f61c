import { type Provider, provide } from "portico";
import type { Database, Transaction } from "portico/sql";
import { newPlace, type Place } from "../../sql/accounts/databases.ts";
import type { Tables } from "./tables.ts";

/** A PostgreSQL schema of its own, which the test removes. */
export const place: Place = await newPlace("PostgreSQL");

export const database: Database<Tables> = place.open<Tables>({ poolSize: 12 });

/** A transaction for one mutation or one request that changes data. */
export const unitOfWork: Provider<Transaction<Tables>> = provide(async function* ({ ctx }) {
  const trx = await database.begin();
  try {
    yield trx;
  } finally {
    await trx.end(ctx.outcome);
  }
});
