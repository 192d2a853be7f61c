export type { RegisteredAs } from "../../auth/users/registered-as.ts";
export type { TableHandlerArguments } from "../../sql/lists/table-handler.ts";
export type { UserClass, UserRow } from "../../sql/users/user-model.ts";
export type { ChangedExtraColumns, ExtraColumns, NewExtraColumns, StoredUser } from "../../sql/users/user-record.ts";

// TypeScript can write a type into an application's declarations only if the program has loaded a module that exports it.
export type {} from "../index.ts";
