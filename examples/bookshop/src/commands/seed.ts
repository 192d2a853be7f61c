import { database } from "../database.ts";
import { seed } from "../seed/seed.ts";
import { stores } from "../stores.ts";

const started = performance.now();
const { books, users, password } = await seed({ books: 100_000, users: 1_000 });
console.log(`created ${books} books and ${users} users in ${((performance.now() - started) / 1000).toFixed(1)} s`);
console.log(`sign in as admin, staff, seller1, seller2 or reader1 with the password: ${password}`);
// There is no application that would close the connections.
await Promise.all([database.destroy(), stores.close()]);
