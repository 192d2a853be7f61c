import { database } from "../database.ts";
import { migrateAll } from "../migrations/migrate-all.ts";
import { stores } from "../stores.ts";

const applied = await migrateAll();
console.log(applied.length === 0 ? "nothing to do" : `applied ${applied.join(", ")}`);
// Without an application nobody else closes what was opened.
await Promise.all([database.destroy(), stores.close()]);
