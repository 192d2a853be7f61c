import type { PorticoConfig } from "../../src/index.ts";
import { type FaultAppSettings, faultApp } from "./fault-app.ts";

// `portico doctor` examines the application of a cell.
const settings = JSON.parse(process.env["FAULT_SETTINGS"] ?? "{}") as FaultAppSettings;
const { app, database } = faultApp(settings);
const config: PorticoConfig = {
  app: () => app,
  // Portico itself opens no MariaDB.
  ...(settings.database?.startsWith("mysql:") === true ? {} : { database: database as never }),
};
export default config;
