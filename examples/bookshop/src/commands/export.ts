import { bookExport } from "../books/book-export.ts";
import { database } from "../database.ts";
import { stores } from "../stores.ts";

// An interrupted export continues with: node src/commands/export.ts <the last point that it printed>
const [, , after = null] = process.argv;
for await (const batch of bookExport(after)) {
  process.stdout.write(batch.lines);
  console.error(`continue from ${batch.after}`);
}
// There is no application that would close the connections.
await Promise.all([database.destroy(), stores.close()]);
