import type { Generated, Selectable } from "kysely";

export interface UserTable {
  id: Generated<number>;
  email: string;
  name: string;
  role: "ADMIN" | "MEMBER";
  passwordHash: string;
}
export type UserRow = Selectable<UserTable>;
