import { ConfigurationError, every, type Gate, isEqual, not, PorticoApp, Router, rule } from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";

interface Row {
  readonly org: string;
}
const allows = (): boolean => true;

describe("rule()", () => {
  it.each<[string, object, string]>([
    ["without a name", { allows }, "rule.name must be a non-empty string, received undefined"],
    ["with an empty name", { name: "", allows }, 'rule.name must be a non-empty string, received ""'],
    ["with nothing to say", { name: "row.own", allows, says: "" }, 'rule.says must be a non-empty string, received ""'],
    ["without allows", { name: "row.own" }, "rule row.own: allows must be a function, received undefined"],
    ["with another allows", { name: "row.own", allows: true }, "rule.allows must be a function, received true"],
    ["with another where", { name: "row.own", allows, where: {} }, "rule.where must be a function"],
    ["with one column in reads", { name: "row.own", allows, reads: "org" }, "rule.reads must be a list of columns"],
    ["with a number in reads", { name: "row.own", allows, reads: [1] }, "rule.reads must be a list of columns"],
    ["with another anonymous", { name: "row.own", allows, anonymous: 1 }, "rule.anonymous must be true or false"],
    [
      "with a misspelt option",
      { name: "row.own", allows, wher: allows },
      'rule: unknown option "wher". Did you mean "where"?',
    ],
  ])("is rejected %s", (_text, options, message) => {
    expect(() => rule(options as never)).toThrow(ConfigurationError);
    expect(() => rule(options as never)).toThrow(message);
  });

  it("has its parts, and cannot be changed", () => {
    const where = () => isEqual("org", "a");
    const own = rule<Row>({ name: "row.own", allows, where, reads: ["org"] });
    const open = rule<Row>({ name: "row.open", allows, anonymous: true });

    expect(own).toMatchObject({ name: "row.own", allows, where, reads: ["org"], anonymous: false, required: true });
    expect(open).toMatchObject({ name: "row.open", where: null, reads: null, anonymous: true, required: false });
    expect([Object.isFrozen(own), Object.isFrozen(useAuth())]).toEqual([true, true]);
  });

  it.each(["allows", "where", "reads", "anonymous"] as const)("cannot be copied with another %s", (name) => {
    const changed = { allows: () => false, where: () => isEqual("org", "b"), reads: ["id"], anonymous: true }[name];
    const own = rule<Row>({ name: "row.own", allows, where: () => isEqual("org", "a"), reads: ["org"] });

    expect(() => every({ ...own, [name]: changed } as never)).toThrow(
      "the rule row.own was copied with another allows, where, reads or anonymous",
    );
    expect(() => every({ ...own } as never)).not.toThrow();
  });
});

describe("the rule of a list", () => {
  it.each<[string, unknown]>([
    ["true", true],
    ["a function", () => true],
    ["an object without a check", { check: true }],
    ["null", null],
    ["undefined", undefined],
  ])("is a gate and not %s", (_text, given) => {
    const paginated = { strategy: "page_number", item: z.object({}), rule: given } as never;

    expect(() => new Router().get("/x", { paginated }, () => 1)).toThrow(
      "GET /x.paginated.rule must be a rule from rule(), every(), some() or not(), received ",
    );
  });
});

describe("a function as a gate", () => {
  const place = "a gate takes (user) or (user, place)";
  const rest = (...all: readonly unknown[]): boolean => all.length > 0;

  it.each<[string, unknown, string]>([
    ["...rest", rest, `${place}, without defaults and without ...rest`],
    ["(user, ...rest)", (_user: unknown, ...others: unknown[]) => others.length > 0, "without ...rest"],
    ["(user = 1)", (user = 1) => user === 1, "without defaults"],
    ["three parameters", (_a: unknown, _b: unknown, _c: unknown) => true, `${place}, but this one takes 3 parameters`],
  ])("cannot take %s", (_text, auth, message) => {
    expect(() => new Router().get("/x", { auth: auth as never }, () => 1)).toThrow(ConfigurationError);
    expect(() => new Router().get("/x", { auth: auth as never }, () => 1)).toThrow(`GET /x.auth ${place}`);
    expect(() => new Router().get("/x", { auth: auth as never }, () => 1)).toThrow(message);
  });

  it("may be bound, which hides its parameters", async () => {
    const isNamed = (name: string, user: { readonly identity: string }): boolean => user.identity === name;
    const app = new PorticoApp({ logger: false }).get("/", { auth: isNamed.bind(null, "ann") }, () => "in");
    const status = async (name: string) => (await testClient(app).as(new SimpleUser(name)).get("/")).status;

    expect([await status("ann"), await status("bob")]).toEqual([200, 403]);
  });

  it("receives the request, the path and the context of its route", async () => {
    const seen: unknown[] = [];
    const app = new PorticoApp({ logger: false }).get(
      "/books/:id",
      {
        auth: (user, { request, path, ctx }) => {
          seen.push(path, request.headers["x-from"], ctx.user === user);
          return true;
        },
      },
      () => "in",
    );
    await testClient(app)
      .as(new SimpleUser("ann"))
      .get("/books/7", { headers: { "x-from": "here" } });

    expect(seen).toEqual([{ id: "7" }, "here", true]);
  });
});

describe("a gate with its own check", () => {
  const gate = (check: Gate["check"]): Gate<true> => ({ required: true, scopes: ["jwt"], check });

  it("may decide later", async () => {
    const isAnn = gate(async ({ user }) => {
      await Promise.resolve();
      if (user.identity !== "ann") throw Object.assign(new Error("Not for you"), { code: "FORBIDDEN" });
    });
    const app = new PorticoApp({ logger: false })
      .get("/", { auth: isAnn }, () => "in")
      .get("/not", { auth: not(isAnn) }, () => "in");
    const status = async (name: string, path: string) =>
      (await testClient(app).as(new SimpleUser(name)).get(path)).status;

    expect([await status("ann", "/"), await status("bob", "/")]).toEqual([200, 403]);
    expect([await status("ann", "/not"), await status("bob", "/not")]).toEqual([403, 200]);
  });

  it.each([
    [{}, true],
    [{ needsIdentity: true }, true],
    [{ needsIdentity: false }, false],
    [{ required: false } as const, false],
    [{ required: false, needsIdentity: true } as const, true],
  ])("needs an identity if it requires a user, unless it says otherwise: %o", (members, needsIdentity) => {
    const combined = every({ ...gate(() => {}), ...members } as Gate);

    expect(combined).toMatchObject({ needsIdentity, scopes: ["jwt"] });
  });
});
