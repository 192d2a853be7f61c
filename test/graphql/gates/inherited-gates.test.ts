import { rateLimit } from "portico";
import {
  field,
  type InterfaceType,
  type ObjectOptions,
  type ObjectType,
  object,
  printSchema,
  schema,
  t,
} from "portico/graphql";
import type { PropertyField } from "portico/types/graphql";
import { describe, expect, it, vi } from "vitest";
import { ask, data, denial, userNamed } from "../ask.ts";

interface Memo {
  readonly id: string;
  readonly body: string | null;
}
const memo: Memo = { id: "1", body: "TOP SECRET" };
const text = t.nullable(t.string);
type Body = typeof text | PropertyField<unknown, string | null | undefined>;

const calls: string[] = [];
const mayRead = (user: { hasPermission(permission: string): boolean }): boolean => user.hasPermission("read");
const mayAudit = (user: { hasPermission(permission: string): boolean }): boolean => user.hasPermission("audit");
class MayRead {
  hasPermission(): boolean {
    calls.push("class");
    return false;
  }
}
const limit = rateLimit({ perMinute: 100 });
vi.spyOn(limit, "attempt").mockImplementation(async () => void calls.push("limit"));

/** Every way to guard a field, and how a caller without permission sees that it is guarded. */
const guarded = {
  "auth: true": [() => field(text, { auth: true }), "UNAUTHENTICATED"],
  "a function": [() => field(text, { auth: mayRead }), "UNAUTHENTICATED"],
  permissionClasses: [() => field(text, { permissionClasses: [MayRead] }), "UNAUTHENTICATED"],
  limit: [() => field(text, { limit }), "limit"],
} as const;
const open: Body = text;

function interfaceOf(name: string, body: Body | undefined, parents: InterfaceType<Memo>[] = []): InterfaceType<Memo> {
  const fields = { id: t.id, ...(body === undefined ? {} : { body }) };
  return t.interface(name, fields as never, { resolveType: () => "Memo", implements: parents });
}
function memoOf(body: Body | undefined, interfaces: NonNullable<ObjectOptions<Memo>["implements"]>): ObjectType<Memo> {
  return object("Memo", { id: t.id, ...(body === undefined ? {} : { body }) } as never, { implements: interfaces });
}
const build = (Memo: ObjectType<Memo>) => schema({ query: { memo: field(Memo)(() => memo) } });
/** What an anonymous caller meets. */
const guardOf = async (Memo: ObjectType<Memo>): Promise<string> => {
  calls.length = 0;
  const result = await ask(build(Memo), "{ memo { body } }");
  return denial(result) === "" ? (calls[0] ?? "none") : String(denial(result)).replace("memo.body ", "");
};

/** vitest compiles no decorators: this calls one as a compiler does. */
const decorate = (factory: unknown, model: abstract new () => object): void =>
  (factory as (target: object, key: string) => void)(model.prototype as object, "body");

describe.each(Object.entries(guarded))("a field of an interface with %s keeps its guard", (_name, [make, guard]) => {
  const Secret = interfaceOf("Secret", make());
  const Plain = interfaceOf("Plain", open);

  it("beside an interface without one, in both orders of implements", async () => {
    expect(await guardOf(memoOf(undefined, [Plain]))).toBe("none");
    expect(await guardOf(memoOf(undefined, [Secret, Plain]))).toBe(guard);
    expect(await guardOf(memoOf(undefined, [Plain, Secret]))).toBe(guard);
  });

  it("if an object redeclares it, with and without a resolver", async () => {
    const resolved = field(text)(() => memo.body) as never;

    expect(await guardOf(memoOf(open, [Secret]))).toBe(guard);
    expect(await guardOf(memoOf(open, [Plain, Secret]))).toBe(guard);
    expect(await guardOf(memoOf(resolved, [Secret]))).toBe(guard);
    expect(await guardOf(memoOf(make(), [Secret]))).toBe(guard);
  });

  it("if another interface redeclares it", async () => {
    const Looser = interfaceOf("Looser", open, [Secret]);

    expect(await guardOf(memoOf(undefined, [Looser]))).toBe(guard);
    expect(await guardOf(memoOf(undefined, [Secret, Looser]))).toBe(guard);
    expect(await guardOf(memoOf(open, [Looser]))).toBe(guard);
  });

  it("if it is inherited from the interface of an interface and from another one", async () => {
    const Middle = interfaceOf("Middle", undefined, [Secret]);

    expect(await guardOf(memoOf(undefined, [Middle, Plain]))).toBe(guard);
    expect(await guardOf(memoOf(undefined, [Plain, Middle]))).toBe(guard);
  });

  it("if a class redeclares it", async () => {
    class Row implements Memo {
      readonly id = "1";
      readonly body = "TOP SECRET";
    }
    decorate(field(text), Row);

    expect(await guardOf(object("Memo", { id: t.id }, { implements: [Secret], model: Row }))).toBe(guard);
  });

  it("if a class redeclares the field of the class that it extends", async () => {
    class Base {
      readonly body: string = "TOP SECRET";
    }
    decorate(make(), Base);
    class Looser extends Base {
      readonly id = "1";
    }
    decorate(field(text), Looser);

    expect(await guardOf(object("Memo", { id: t.id }, { model: Looser }) as ObjectType<Memo>)).toBe(guard);
  });
});

it("adds up different gates, from interfaces and from the object itself", async () => {
  const Reader = interfaceOf("Reader", field(text, { auth: mayRead }));
  const Auditor = interfaceOf("Auditor", field(text, { auth: mayAudit }));
  const seen = async (Memo: ObjectType<Memo>, ...permissions: string[]): Promise<unknown> =>
    denial(await ask(build(Memo), "{ memo { body } }", { user: userNamed("bob", permissions) })) || "open";

  for (const Memo of [
    memoOf(undefined, [Reader, Auditor]),
    memoOf(undefined, [Auditor, Reader]),
    memoOf(field(text, { auth: mayAudit }), [Reader]),
  ]) {
    expect(await seen(Memo, "read", "audit")).toBe("open");
    expect(await seen(Memo, "read")).toBe("memo.body FORBIDDEN");
    expect(await seen(Memo, "audit")).toBe("memo.body FORBIDDEN");
  }
});

it("drops an inherited auth with auth: false, and nothing else", async () => {
  const dropped = field(text, { auth: false });
  const Both = interfaceOf("Both", field(text, { auth: true, permissionClasses: [MayRead] }));

  expect(await guardOf(memoOf(dropped, [interfaceOf("Secret", field(text, { auth: mayRead }))]))).toBe("none");
  expect(await guardOf(memoOf(dropped, [Both]))).toBe("UNAUTHENTICATED");
  expect(calls).toEqual(["class"]);
});

it("makes a field of an interface nullable if a type that implements it guards the field", () => {
  const Open: InterfaceType<Memo> = t.interface("Open", { id: t.id }, { resolveType: () => "Memo" });
  const Memo: ObjectType<Memo> = object("Memo", { id: field(t.id, { auth: true }) }, { implements: [Open] });
  const Other: ObjectType<Memo> = object("Other", { id: t.id }, { implements: [Open] });
  const sdl = printSchema(schema({ query: { memo: field(Memo)(() => memo) }, types: [Other] }));

  expect(sdl).toContain("interface Open {\n  id: ID\n}");
  expect(sdl).toContain("type Memo implements Open {\n  id: ID\n}");
  expect(sdl).toContain("type Other implements Open {\n  id: ID!\n}");
});

describe("an inherited gate holds", () => {
  const Secret = interfaceOf("Secret", field(text, { auth: mayRead }));
  const Memo = memoOf(undefined, [Secret]);
  const Any = t.union("Any", [Memo], { resolveType: () => "Memo" });
  const shared = { body: field(text, { auth: mayRead })(({ parent }: { parent: Memo }) => parent.body) };
  const Copy: ObjectType<Memo> = object("Copy", { id: t.id, ...shared });
  const Again: ObjectType<Memo> = object("Again", { id: t.id, ...shared });
  const built = schema({
    query: {
      memo: field(Memo)(() => memo),
      secret: field(Secret)(() => memo),
      any: field(Any)(() => memo),
      list: field(t.list(Secret))(() => [memo]),
      copy: field(Copy)(() => memo),
      again: field(Again)(() => memo),
    },
  });

  it.each([
    "{ memo { body } }",
    "{ secret { body } }",
    "{ secret { ... on Memo { body } } }",
    "{ any { ... on Secret { body } } }",
    "{ any { ... on Memo { body } } }",
    "{ list { body } }",
    "{ copy { body } }",
    "{ again { body } }",
  ])("for %s", async (query) => {
    const refused = await ask(built, query, { user: userNamed("bob") });

    expect(denial(refused)).toMatch(/body FORBIDDEN$/);
    expect(JSON.stringify(refused)).not.toContain("TOP SECRET");
    expect(JSON.stringify(await data(built, query, { user: userNamed("ada", ["read"]) }))).toContain("TOP SECRET");
  });
});
