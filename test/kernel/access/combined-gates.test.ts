import { ConfigurationError, every, type Gate, isEqual, not, PorticoApp, rule, some } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

const ann = new SimpleUser("ann");
const root = new SimpleUser("root", ["read:audit"]);

// Each gate is made in its test, because making it is part of the test.
const isRoot = (user: { readonly identity: string }): boolean => user.identity === "root";
const isAnn = async (user: { readonly identity: string }): Promise<boolean> => user.identity === "ann";
const audit = (): Gate<true> => useAuth({ permissions: ["read:audit"] });
const anyone = (): Gate<false> => useAuth({ required: false });
const bySession = (): Gate<true, any> => useAuth({ scopes: ["session"] });
const byEither = (): Gate<true, any> => useAuth({ scopes: ["session", "jwt"] });
const byToken = (): Gate<true, any> => useAuth({ scopes: ["jwt"] });
const ownRow = (): Gate<true, any, any> => rule<object>({ name: "row.own", allows: () => true });
const openRow = (): Gate<false, any, any> => rule<object>({ name: "row.open", allows: () => true, anonymous: true });

describe("a combination of gates", () => {
  it.each<[string, () => Gate<any, any, any>, readonly number[]]>([
    ["every(true, audit)", () => every(true, audit()), [401, 403, 200]],
    ["every(anyone, isRoot)", () => every(anyone(), isRoot), [401, 403, 200]],
    ["every(isAnn, isRoot)", () => every(isAnn, isRoot), [401, 403, 403]],
    ["every(anyone, anyone)", () => every(anyone(), anyone()), [200, 200, 200]],
    ["some(audit, isAnn)", () => some(audit(), isAnn), [401, 200, 200]],
    ["some(isAnn, audit)", () => some(isAnn, audit()), [401, 200, 200]],
    ["some(isRoot, audit)", () => some(isRoot, audit()), [401, 403, 200]],
    ["some(anyone, isRoot)", () => some(anyone(), isRoot), [200, 200, 200]],
    ["not(true)", () => not(true), [200, 403, 403]],
    ["not(isAnn)", () => not(isAnn), [200, 403, 200]],
    ["not(not(audit))", () => not(not(audit())), [403, 403, 200]],
    ["every(true, not(audit))", () => every(true, not(audit())), [401, 200, 403]],
    ["some(not(true), audit)", () => some(not(true), audit()), [200, 403, 200]],
  ])("lets in whom it says: %s", async (_text, make, statuses) => {
    const client = testClient(new PorticoApp({ logger: false }).get("/", { auth: make() as Gate }, () => "in"));

    const callers = [client, client.as(ann), client.as(root)];

    expect(await Promise.all(callers.map(async (caller) => (await caller.get("/")).status))).toEqual(statuses);
  });

  it.each<[string, () => Gate<any, any, any>, boolean, readonly string[]]>([
    ["useAuth()", () => useAuth(), true, []],
    ["anyone", anyone, false, []],
    ["every(anyone, isRoot)", () => every(anyone(), isRoot), true, []],
    ["every(anyone, anyone)", () => every(anyone(), anyone()), false, []],
    ["every(true, bySession)", () => every(true, bySession()), true, ["session"]],
    ["every(byEither, byToken)", () => every(byEither(), byToken()), true, ["jwt"]],
    ["some(isAnn, isRoot)", () => some(isAnn, isRoot), true, []],
    ["some(anyone, true)", () => some(anyone(), true), false, []],
    ["some(bySession, byEither)", () => some(bySession(), byEither()), true, ["session", "jwt"]],
    ["some(bySession, true)", () => some(bySession(), true), true, []],
    ["not(bySession)", () => not(bySession()), false, []],
    ["a rule", ownRow, true, []],
    ["a rule for anonymous callers, too", openRow, false, []],
    ["some(rule, bySession)", () => some(ownRow(), bySession()), true, []],
    ["some(open rule, bySession)", () => some(openRow(), bySession()), false, []],
  ])("requires a user, and sign-in methods, as its members do: %s", (_text, make, required, scopes) => {
    const { needsIdentity, ...gate } = make();

    expect({ required: gate.required, scopes: gate.scopes, needsIdentity }).toEqual({
      required,
      scopes,
      needsIdentity: required,
    });
  });

  it.each<[string, (own: Gate<true>) => Gate, boolean]>([
    ["some(own, true)", (own) => some(own, true), false],
    ["some(true, true)", () => some(true, true), true],
    ["every(own, own)", (own) => every(own, own), false],
    ["every(own, true)", (own) => every(own, true), true],
  ])("opens without authentication if its members do: %s", (_text, make, needsIdentity) => {
    const own: Gate<true> = { required: true, needsIdentity: false, scopes: [], check: () => {} };

    expect(make(own)).toMatchObject({ required: true, needsIdentity });
  });

  it.each([
    ["first", () => some(useAuth({ level: "mfa" }), audit())],
    ["last", () => some(audit(), useAuth({ level: "mfa" }))],
  ])("refuses with the sentence that says most, if it comes %s", async (_place, make) => {
    const client = testClient(new PorticoApp({ logger: false }).get("/", { auth: make() }, () => "in"));

    expect((await client.as(ann).get("/")).json()).toMatchObject({ status: 403, code: "second_factor_required" });
  });

  it.each<[string, () => unknown, string]>([
    ["every()", () => every(...([] as unknown as [true])), "every needs at least one gate or condition"],
    ["some()", () => some(...([] as unknown as [true])), "some needs at least one gate or condition"],
    [
      "a condition beside a gate",
      () => every(true, isEqual("org", "a") as never),
      "every[1] must be true, a function of the user, or a gate; conditions are combined only with conditions",
    ],
    ["false", () => some(true, false as never), "some[1] must be true, a function of the user, or a gate"],
    ["undefined", () => not(undefined as never), "not[0] must be true, a function of the user, or a gate"],
    [
      "a function with a default",
      () => not(((_user: unknown, _place = 1) => true) as never),
      "not[0] a gate takes (user) or (user, place), without defaults and without ...rest: the number of its parameters decides how often it is called",
    ],
    [
      "a function with three parameters",
      () => not(((_a: unknown, _b: unknown, _c: unknown) => true) as never),
      "not[0] a gate takes (user) or (user, place), but this one takes 3 parameters",
    ],
  ])("is rejected for %s", (_text, make, message) => {
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(message);
  });
});

it.each<[string, () => Gate<any, any, any>]>([
  ["alone", () => ownRow()],
  ["in every()", () => every(true, ownRow())],
  ["in some()", () => some(true, ownRow())],
  ["in not()", () => not(ownRow())],
])("a rule cannot guard a route, which has no object: %s", (_text, make) => {
  expect(() => new PorticoApp().get("/x", { auth: make() as Gate }, () => 1)).toThrow(
    "GET /x.auth is the rule row.own, which decides about an object, and there is none here: call ctx.authorize(rule, object) in the handler instead",
  );
});

it.each([
  { scopes: [""] },
  { scopes: [1] },
  { scopes: "session" },
  { scopes: undefined },
  { permissions: [""] },
  { permissions: undefined },
  { required: 1 },
  { freshSeconds: 0 },
  { freshSeconds: undefined },
  { level: "high" },
  { level: undefined },
])("useAuth rejects %o", (options) => {
  const [name] = Object.keys(options);

  expect(() => useAuth(options as never)).toThrow(ConfigurationError);
  expect(() => useAuth(options as never)).toThrow(`useAuth.${name} must be `);
});

describe("a gate that returns something else than true or false", () => {
  it("denies access, and outside production the log says so once", async () => {
    const log = logCatcher();
    const truthy = ((user: object) => user) as never;
    const client = testClient(new PorticoApp({ logger: log }).get("/", { auth: truthy }, () => "in")).as(ann);

    expect([(await client.get("/")).status, (await client.get("/")).status]).toEqual([403, 403]);
    const sentence = "a gate returned neither true nor false; access is denied";
    expect(log.lines.filter(({ msg }) => msg === sentence)).toEqual([
      expect.objectContaining({ level: "warn", gate: "truthy" }),
    ]);
  });
});
