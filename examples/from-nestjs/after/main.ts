import { migrate } from "portico/sql";
import { tracker } from "./app.ts";
import { database, migrations } from "./database.ts";
import { settings } from "./settings.ts";

await migrate(database, "up", { users: false, migrations });
const { url } = await tracker({ logger: { level: "warn" } }).listen({ port: settings.port });
console.log(`listening on ${url}`);
