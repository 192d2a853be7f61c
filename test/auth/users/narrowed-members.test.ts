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
  readonly isSuspended = true;

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

it("a narrowed user keeps the facts, and every other member is denied, whatever its name", () => {
  const user = narrowed(new Granted(["read", "write"], ["editor"]), ["read", "pay"]);

  expect([user.identity, user.displayName, user.isAuthenticated, user.credentialVersion]).toEqual([
    "ann",
    "Ann",
    true,
    3,
  ]);
  expect(user).toBeInstanceOf(Granted);
  for (const name of ["isAdmin", "role", "groups", "scopes", "privileges", "isStaff", "hasRole"] as const)
    expect(() => user[name]).toThrow(`Granted.${name} is not available to a credential with its own permissions`);
  expect(user.roles).toEqual([]);
  expect(narrowed(new Granted([], new Set(["editor"])), []).roles).toEqual(new Set());
  expect(() => narrowed(new Granted([], { editor: true }), []).roles).toThrow("Granted.roles is not available");
  // Names that no list of usual names has: one allows more, the other forbids.
  for (const name of ["plan", "isSuspended"] as const)
    expect(() => user[name]).toThrow(`list "${name}" in narrowedFacts if it grants nothing, or implement narrowedTo`);
});

it("keeps the members that its class lists, which run with the narrowed user", () => {
  class Listed extends Granted {
    readonly email = "ann@example.org";
    get narrowedFacts(): readonly string[] {
      return ["email", "mayWrite", "can", "first"];
    }
    get mayWrite(): boolean {
      return this.hasPermission("write");
    }
    can(permission: string): boolean {
      return this.hasPermission(permission);
    }
    get first(): unknown {
      return this.groups.get("shop");
    }
  }
  const user = narrowed(new Listed(["read", "write"], ["editor"]), ["read"]) as Listed;

  expect([user.email, user.mayWrite, user.can("read"), user.can("write")]).toEqual([
    "ann@example.org",
    false,
    true,
    false,
  ]);
  expect(() => user.first).toThrow("Listed.groups is not available");
  expect(() => user.plan).toThrow("Listed.plan is not available");
});

it("can be copied and sent, without the members that are denied", () => {
  const user = narrowed(new Granted(["read", "write"], ["editor"]), ["read"]);

  const facts = { isAuthenticated: true, identity: "ann", displayName: "Ann", permissions: ["read"], roles: [] };
  expect(Object.assign({}, user)).toEqual(facts);
  expect(JSON.parse(JSON.stringify(user))).toEqual(facts);
  expect(Object.keys(user)).not.toContain("plan");
});

it("keeps the permissions that both have, in a list or a set", () => {
  const [list, set] = [new Granted(["read", "write"], []), new Granted(new Set(["read", "write"]), [])];

  expect(narrowed(list, ["read", "pay"]).permissions).toEqual(["read"]);
  expect(narrowed(set, ["read", "pay"]).permissions).toEqual(new Set(["read"]));
  expect(() => narrowed(new Granted("read", []), ["r"]).permissions).toThrow("Granted.permissions is not available");
  const user = narrowed(list, ["read", "pay"]);
  expect(["read", "write", "pay"].map((permission) => user.hasPermission(permission))).toEqual([true, false, false]);
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
