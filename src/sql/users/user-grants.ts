import { ConfigurationError } from "../../core/configuration-error.ts";
import { PorticoError } from "../../core/portico-error.ts";
import type { Database, Transaction } from "../database/database.ts";
import type { PorticoTables } from "../database/portico-tables.ts";

/** The permissions of a user: direct ones, and those of their roles. */
export interface Grants {
  readonly permissions?: readonly string[];
  readonly roles?: readonly string[];
}

/** A role with its permissions and the number of users who have it. */
export interface StoredRole {
  readonly name: string;
  readonly permissions: readonly string[];
  readonly users: number;
}

/**
 * Permissions and roles in their tables. Changes of one user are single, repeatable statements, because the caller may
 * hold a transaction and must not wait for a second one.
 */
export class UserGrants {
  readonly #database: Database<PorticoTables>;

  constructor(database: Database) {
    this.#database = database;
  }

  async grant(user_id: string, { permissions = [], roles = [] }: Grants): Promise<void> {
    checkNames("grant", [...permissions, ...roles]);
    await this.#mustExist(user_id, roles);
    if (permissions.length > 0)
      await this.#database
        .insertInto("portico_user_permissions")
        .values(permissions.map((permission) => ({ user_id, permission })))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    if (roles.length > 0)
      await this.#database
        .insertInto("portico_user_roles")
        .values(roles.map((role) => ({ user_id, role })))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
  }

  async revoke(user_id: string, { permissions = [], roles = [] }: Grants): Promise<void> {
    checkNames("revoke", [...permissions, ...roles]);
    if (permissions.length > 0)
      await this.#database
        .deleteFrom("portico_user_permissions")
        .where("user_id", "=", user_id)
        .where("permission", "in", permissions)
        .execute();
    if (roles.length > 0)
      await this.#database
        .deleteFrom("portico_user_roles")
        .where("user_id", "=", user_id)
        .where("role", "in", roles)
        .execute();
  }

  async defineRole(role: string, permissions: readonly string[]): Promise<void> {
    checkNames("defineRole", [role, ...permissions]);
    await this.#together(async (trx) => {
      await trx
        .insertInto("portico_roles")
        .values({ name: role })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      await trx.deleteFrom("portico_role_permissions").where("role", "=", role).execute();
      if (permissions.length > 0)
        await trx
          .insertInto("portico_role_permissions")
          .values(permissions.map((permission) => ({ role, permission })))
          .onConflict((conflict) => conflict.doNothing())
          .execute();
    });
  }

  async deleteRole(role: string): Promise<void> {
    await this.#database.deleteFrom("portico_roles").where("name", "=", role).execute();
  }

  /** Lists all roles by name. */
  async roles(): Promise<readonly StoredRole[]> {
    const permissions = await this.#database
      .selectFrom("portico_role_permissions")
      .select(["role", "permission"])
      .orderBy("permission")
      .execute();
    const roles = await this.#database
      .selectFrom("portico_roles")
      .leftJoin("portico_user_roles", "portico_user_roles.role", "portico_roles.name")
      .select(({ fn }) => ["portico_roles.name", fn.count("portico_user_roles.user_id").as("users")])
      .groupBy("portico_roles.name")
      .orderBy("portico_roles.name")
      .execute();
    return roles.map(({ name, users }) => ({
      name,
      permissions: permissions.filter(({ role }) => role === name).map(({ permission }) => permission),
      users: Number(users),
    }));
  }

  async #mustExist(user_id: string, roles: readonly string[]): Promise<void> {
    const user = await this.#database.selectFrom("users").select("id").where("id", "=", user_id).executeTakeFirst();
    if (user === undefined) throw missing("The user does not exist");
    if (roles.length === 0) return;
    const known = await this.#database.selectFrom("portico_roles").select("name").where("name", "in", roles).execute();
    const unknown = roles.find((role) => !known.some(({ name }) => name === role));
    if (unknown !== undefined)
      throw missing(
        `The role ${JSON.stringify(unknown)} does not exist: define it with defineRole or portico role define`,
      );
  }

  async #together(work: (trx: Transaction<PorticoTables>) => Promise<void>): Promise<void> {
    const trx = await this.#database.begin();
    try {
      await work(trx);
    } catch (error) {
      await trx.end("failure");
      throw error;
    }
    await trx.end("success");
  }
}

function checkNames(method: string, names: readonly unknown[]): void {
  for (const name of names)
    if (typeof name !== "string" || name === "" || name.includes("\0"))
      throw new ConfigurationError(`objects.${method}`, "non-empty strings", name);
}

function missing(sentence: string): PorticoError {
  return new PorticoError("NOT_FOUND", sentence, { status: 404 });
}
