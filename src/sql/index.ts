export type { RegisteredAs } from "../auth/users/registered-as.ts";
export type { Database, SentStatement, Transaction, TransactionSettings } from "./database/database.ts";
export { type DatabaseOptions, openDatabase } from "./database/open-database.ts";
export { type MigrationStatus, migrate, migrationStatus } from "./migrations/migrate.ts";
export type { MigrateOptions, Migration } from "./migrations/migration.ts";
export type { PorticoTables, UserTable } from "./migrations/portico-tables.ts";
export { namedStatements } from "./named-statements.ts";
export { sqlStores } from "./stores/sql-stores.ts";
export { TableHandler, type TableHandlerArguments, type TableHandlerOptions, tableHandler } from "./table-handler.ts";
export { type TotalsCache, type TotalsCacheOptions, totalsCache } from "./totals-cache.ts";
export type { ImportUserInput, SqlUserManager } from "./users/sql-user-manager.ts";
export type { Grants } from "./users/user-grants.ts";
export { type UserClass, type UserModelOptions, type UserRow, userModel } from "./users/user-model.ts";
export {
  type ChangedExtraColumns,
  type ExtraColumns,
  type NewExtraColumns,
  type StoredUser,
  UserRecord,
} from "./users/user-record.ts";
