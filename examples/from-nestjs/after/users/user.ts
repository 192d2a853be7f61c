import { UserBaseModel } from "portico/auth";
import { database } from "../database.ts";
import type { UserRow } from "./user-table.ts";

/** The signed-in user. Roles become permissions, which gates check. */
export class User extends UserBaseModel {
  readonly id: number;
  readonly identity: string;
  readonly displayName: string;
  readonly email: string;
  readonly name: string;
  readonly role: UserRow["role"];

  constructor({ id, email, name, role }: UserRow) {
    super(role === "ADMIN" ? ["manage:projects"] : []);
    this.id = id;
    this.identity = String(id);
    this.displayName = name;
    this.email = email;
    this.name = name;
    this.role = role;
  }

  static async loadUser(identity: string): Promise<User | null> {
    const row = await database.selectFrom("users").selectAll().where("id", "=", Number(identity)).executeTakeFirst();
    return row === undefined ? null : new User(row);
  }
}

declare module "portico" {
  interface Register {
    user: User;
  }
  interface Permissions {
    "manage:projects": true;
  }
}
