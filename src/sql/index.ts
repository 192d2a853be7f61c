// TypeScript can write a type into an application's declarations only if the program has loaded a module that exports it.
export type {} from "../types/sql/index.ts";
export type { Database, SentStatement, Transaction, TransactionSettings } from "./database/database.ts";
export { type DatabaseOptions, openDatabase } from "./database/open-database.ts";
export { type MigrationStatus, migrate, migrationStatus } from "./migrations/migrate.ts";
export type { MigrateOptions, Migration } from "./migrations/migration.ts";
export type { PorticoTables, UserTable } from "./migrations/portico-tables.ts";
export { namedStatements } from "./named-statements.ts";
export { sqlStores } from "./stores/sql-stores.ts";
export { TableHandler, type TableHandlerOptions, tableHandler } from "./table-handler.ts";
export { type TotalsCache, type TotalsCacheOptions, totalsCache } from "./totals-cache.ts";
export type { ImportUserInput, SqlUserManager } from "./users/sql-user-manager.ts";
export type { Grants } from "./users/user-grants.ts";
export { type UserModelOptions, userModel } from "./users/user-model.ts";
export { UserRecord } from "./users/user-record.ts";
