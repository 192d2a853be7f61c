import { database } from "../database.ts";
import { migrateAll } from "../migrations/migrate-all.ts";
import { stores } from "../stores.ts";

const applied = await migrateAll();
console.log(applied.length === 0 ? "nothing to do" : `applied ${applied.join(", ")}`);
// There is no application that would close the connections.
await Promise.all([database.destroy(), stores.close()]);
