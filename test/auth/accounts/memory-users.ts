import { randomUUID } from "node:crypto";
import {
  type AccountModel,
  type AccountUser,
  type CreateUserInput,
  limitLogin,
  PasswordHasher,
  UserBaseModel,
  UserExists,
  type UserKey,
} from "portico/auth";

class MemoryUser extends UserBaseModel implements AccountUser {
  readonly identity: string;
  readonly displayName: string;
  readonly email: string;
  readonly username: string;
  readonly isVerified: boolean;
  readonly credentialVersion: number;

  constructor(row: Row) {
    super(row.permissions);
    this.identity = row.id;
    this.displayName = row.username;
    this.email = row.email;
    this.username = row.username;
    this.isVerified = row.isVerified;
    this.credentialVersion = row.version;
  }
}

interface Row {
  readonly id: string;
  email: string;
  username: string;
  hash: string;
  version: number;
  isVerified: boolean;
  isDisabled: boolean;
  readonly permissions: readonly string[];
}

const same = (left: string, right: string): boolean => left.trim().toLowerCase() === right.trim().toLowerCase();

type Hasher = Pick<PasswordHasher, "hash" | "verify">;

/** Users in memory, by the contract that the account routes need: a model that is not Portico's own. */
export function memoryUsers(passwords: Hasher = new PasswordHasher()): AccountModel<MemoryUser> {
  const rows: Row[] = [];
  const find = (key: UserKey): Row | undefined =>
    rows.find((row) =>
      "id" in key ? row.id === key.id : "email" in key ? same(row.email, key.email) : same(row.username, key.username),
    );
  const change = async ({ identity }: { readonly identity: string }, edit: (row: Row) => void): Promise<void> => {
    const row = find({ id: identity });
    if (row !== undefined) edit(row);
  };
  return {
    async loadUser(identity) {
      const row = find({ id: identity });
      return row === undefined || row.isDisabled ? null : new MemoryUser(row);
    },
    objects: {
      async createUser({ email, username, password }: CreateUserInput) {
        const hash = await passwords.hash(password);
        if (find({ email }) !== undefined) throw new UserExists("email");
        if (find({ username }) !== undefined) throw new UserExists("username");
        const row: Row = {
          id: randomUUID(),
          email: email.trim(),
          username,
          hash,
          version: 1,
          isVerified: false,
          isDisabled: false,
          permissions: ["read:books"],
        };
        rows.push(row);
        return new MemoryUser(row);
      },
      async get(key) {
        const row = find(key);
        return row === undefined ? null : new MemoryUser(row);
      },
      authenticate: (identifier, password) =>
        limitLogin(identifier, async (mayTry) => {
          const row = find({ email: identifier }) ?? find({ username: identifier });
          const isAllowed = await mayTry(row?.id ?? null);
          const isBarred = row === undefined || row.isDisabled || !isAllowed;
          const { isRight } = await passwords.verify(password, isBarred ? null : row.hash);
          return isRight && !isBarred ? new MemoryUser(row) : null;
        }),
      async setPassword(user, password, version) {
        const hash = await passwords.hash(password);
        const row = find({ id: user.identity });
        if (row === undefined || (version !== undefined && row.version !== version)) return false;
        row.hash = hash;
        row.version++;
        return true;
      },
      async setEmail(user, email) {
        if (find({ email }) !== undefined) throw new UserExists("email");
        await change(user, (row) => {
          row.email = email;
          row.isVerified = true;
        });
      },
      async setUsername(user, username) {
        const other = find({ username });
        if (other !== undefined && other.id !== user.identity) throw new UserExists("username");
        await change(user, (row) => void (row.username = username));
      },
      renewCredentials: (user) => change(user, (row) => void row.version++),
      markVerified: (user) => change(user, (row) => void (row.isVerified = true)),
      disable: (user) =>
        change(user, (row) => {
          row.isDisabled = true;
          row.version++;
        }),
      enable: (user) => change(user, (row) => void (row.isDisabled = false)),
    },
  };
}
