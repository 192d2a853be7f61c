import { expect, it } from "vitest";
import { narrowUser, refuseNarrowed } from "../../../src/auth/users/narrow-user.ts";

/** A user whose class inherits the members that grant something. */
class Granted {
  readonly isAuthenticated = true;
  readonly identity = "ann";
  readonly displayName = "Ann";
  readonly permissions: unknown;
  readonly roles: unknown;
  readonly isAdmin = true;
  readonly role = "owner";
  readonly groups = new Map([["shop", "owner"]]);
  readonly scopes = { books: true };
  readonly privileges = 7;
  readonly plan = "pro";

  constructor(permissions: unknown, roles: unknown) {
    this.permissions = permissions;
    this.roles = roles;
  }
  get credentialVersion(): number {
    return 3;
  }
  get isStaff(): boolean {
    return true;
  }
  hasRole(): boolean {
    return true;
  }
  hasPermission(permission: string): boolean {
    return [...(this.permissions as Iterable<string>)].includes(permission);
  }
}

const narrowed = (user: Granted, permissions: readonly string[]): Granted =>
  narrowUser(user, permissions) as unknown as Granted;

it("a narrowed user has no roles and groups, of the same kind as before, and flags are false", () => {
  const user = narrowed(new Granted(["read", "write"], ["editor"]), ["read", "pay"]);

  expect(user.roles).toEqual([]);
  expect(narrowed(new Granted([], new Set(["editor"])), []).roles).toEqual(new Set());
  expect(user.groups).toEqual(new Map());
  expect(user.scopes).toEqual({});
  expect([user.isAdmin, user.isStaff, user.role, user.privileges, user.hasRole()]).toEqual([
    false,
    false,
    "",
    0,
    false,
  ]);
  expect(user).toBeInstanceOf(Granted);
  expect([user.plan, user.identity, user.displayName, user.isAuthenticated]).toEqual(["pro", "ann", "Ann", true]);
  expect(user.credentialVersion).toBe(3);
});

it("keeps the permissions that both have, in a list or a set", () => {
  const [list, set] = [new Granted(["read", "write"], []), new Granted(new Set(["read", "write"]), [])];

  expect(narrowed(list, ["read", "pay"]).permissions).toEqual(["read"]);
  expect(narrowed(set, ["read", "pay"]).permissions).toEqual(new Set(["read"]));
  expect(narrowed(new Granted("read", []), ["r"]).permissions).toBe("read");
  const user = narrowed(list, ["read", "pay"]);
  expect(["read", "write", "pay"].map((permission) => user.hasPermission(permission))).toEqual([true, false, false]);
});

it("lists the members that were listed before, and no others", () => {
  const user = new Granted([], []);

  expect(Object.keys(narrowed(user, [])).toSorted()).toEqual(Object.keys(user).toSorted());
});

it("may not sign in, and the user itself may", () => {
  const user = new Granted([], []);

  expect(() => refuseNarrowed(narrowed(user, []))).toThrow(
    "A credential with restricted permissions cannot be used to sign in. Use another sign-in method.",
  );
  expect(() => refuseNarrowed(user)).not.toThrow();
});

it("has no permission that its class grants with anything but true", () => {
  const user = Object.assign(new Granted([], []), { hasPermission: () => Promise.resolve(true) as never });

  expect(narrowed(user, ["read"]).hasPermission("read")).toBe(false);
});
