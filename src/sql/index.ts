// TypeScript can write a type into an application's declarations only if the program has loaded a module that exports it.
export type {} from "../types/sql/index.ts";
export { type AccountLog, type AccountLogEntry, accountLog } from "./account-log/account-log.ts";
export { accountLogMigration } from "./account-log/account-log-migration.ts";
export type { Database, SentStatement, Transaction, TransactionSettings } from "./database/database.ts";
export type { Guard, GuardedTable, TableRule } from "./database/guard.ts";
export { type DatabaseOptions, type DatabaseServers, openDatabase } from "./database/open/open-database.ts";
export type { PorticoTables, UserTable } from "./database/portico-tables.ts";
export { TableHandler, type TableHandlerOptions, tableHandler } from "./lists/table-handler.ts";
export { type TotalsCache, type TotalsCacheOptions, totalsCache } from "./lists/totals-cache.ts";
export { type MigrationStatus, migrate, migrationStatus } from "./migrations/migrate.ts";
export type { Migration } from "./migrations/migration.ts";
export type { MigrateOptions } from "./migrations/migration-steps.ts";
export {
  type Attempt,
  type ConsumeOptions,
  type Consumer,
  consume,
  type TransactionalOptions,
} from "./outbox/consume.ts";
export { outbox } from "./outbox/outbox.ts";
export { type PrismaQueries, prismaDialect } from "./prisma/prisma-dialect.ts";
export { type PrismaTransactions, prismaTransaction } from "./prisma/prisma-transaction.ts";
export { namedStatements } from "./statements/named-statements.ts";
export { sqlStores } from "./stores/sql-stores.ts";
export { idempotencyMigration } from "./transactions/idempotency-migration.ts";
export { transaction } from "./transactions/transaction.ts";
export type { ImportUserInput, SQLUserManager } from "./users/sql-user-manager.ts";
export type { Grants } from "./users/user-grants.ts";
export { type UserModelOptions, userModel } from "./users/user-model.ts";
export { UserRecord } from "./users/user-record.ts";
