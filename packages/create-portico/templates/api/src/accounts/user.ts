import { userModel } from "portico/sql";
import { database } from "../database.ts";

/** The signed-in user, in every handler, resolver and rule. */
export class User extends userModel(database) {}

declare module "portico" {
  interface Register {
    user: User;
  }
}
