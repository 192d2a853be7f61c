export {
  type DrizzleField,
  type DrizzleHandlerArguments,
  type DrizzleHandlerOptions,
  type DrizzleRow,
  type DrizzleSelect,
  drizzleHandler,
} from "./drizzle-handler.ts";
export { type DrizzleTransaction, drizzleTransaction, type TransactingDatabase } from "./drizzle-transaction.ts";
