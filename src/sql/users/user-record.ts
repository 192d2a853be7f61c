import type { Insertable, Selectable, Updateable } from "kysely";
import type { AccountUser } from "../../auth/users/account-model.ts";
import { UserBaseModel } from "../../auth/users/user-base-model.ts";
import type { UserTable } from "../database/portico-tables.ts";

/** The columns that an application added to the user table. */
export type ExtraColumns<T> = Omit<T, keyof UserTable>;

/** Their values when a user is created. */
export type NewExtraColumns<T> = Insertable<ExtraColumns<T>>;

/** The ones that can be updated. */
export type ChangedExtraColumns<T> = Updateable<ExtraColumns<T>>;

/** The data of a user object: the row without its password hash, and the user's permissions. */
export type StoredUser<T = UserTable> = Omit<Selectable<T>, "password_hash"> & {
  readonly permissions: readonly string[];
  readonly roles: readonly string[];
};

/** A user as stored in the database, without the password hash. */
export class UserRecord extends UserBaseModel implements AccountUser {
  readonly id: string;
  readonly email: string;
  readonly username: string;
  /** Whether the user has verified the address. */
  readonly isVerified: boolean;
  /** Whether the application created the user outside a request, with `createUser`. */
  readonly isVouchedFor: boolean;
  readonly isDisabled: boolean;
  readonly credentialVersion: number;
  readonly createdAt: Date;
  /** The names of the roles. Their permissions are included in `permissions`. */
  readonly roles: readonly string[];

  constructor(row: StoredUser) {
    super(row.permissions);
    this.id = row.id;
    this.email = row.email;
    this.username = row.username;
    this.isVerified = row.email_verified_at !== null;
    this.isVouchedFor = (row.vouched_at ?? null) !== null;
    this.isDisabled = row.disabled_at !== null;
    this.credentialVersion = row.credential_version;
    this.createdAt = new Date(row.created_at);
    this.roles = row.roles;
    for (const [column, value] of Object.entries(row))
      if (!OWN_COLUMNS.has(column) && !(column in this)) Object.assign(this, { [column]: value });
  }

  get identity(): string {
    return this.id;
  }

  get displayName(): string {
    return this.username;
  }

  get narrowedFacts(): readonly string[] {
    return ["id", "email", "username", "isVerified", "isDisabled", "createdAt"];
  }
}

/** Portico's own columns. All others belong to the application. */
export const OWN_COLUMNS: ReadonlySet<string> = new Set<keyof UserTable>([
  "id",
  "email",
  "email_key",
  "username",
  "username_key",
  "password_hash",
  "credential_version",
  "email_verified_at",
  "vouched_at",
  "disabled_at",
  "created_at",
]);
