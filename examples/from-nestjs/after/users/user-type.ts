import { type ObjectType, object, t } from "portico/graphql";
import type { UserRow } from "./user-table.ts";

export const UserType: ObjectType<Omit<UserRow, "passwordHash">> = object("User", {
  id: t.int,
  email: t.string,
  name: t.string,
  role: t.string,
});
