import { type FaultAppSettings, faultApp } from "./fault-app.ts";
import { takeInnerFaults } from "./inner-faults.ts";

// The process of a cell. Its argument has the settings as JSON.
const { app, database } = faultApp(JSON.parse(process.argv[2] ?? "{}") as FaultAppSettings);
takeInnerFaults(app);
await database.schema
  .createTable("things")
  .ifNotExists()
  .addColumn("id", "integer")
  .addColumn("text", "text")
  .execute();
const { port } = await app.listen({ port: 0 });
process.send?.({ port });
