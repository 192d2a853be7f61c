import { rateLimit } from "portico";
import {
  field,
  type InterfaceType,
  type ObjectOptions,
  type ObjectType,
  object,
  ResolverError,
  schema,
  t,
} from "portico/graphql";
import type { PropertyField } from "portico/types/graphql";
import { describe, expect, it } from "vitest";
import { ask, data, denial, somebody } from "./ask.ts";

interface Memo {
  readonly id: string;
  readonly body: string | null;
}
const memo: Memo = { id: "1", body: "TOP SECRET" };
const text = t.nullable(t.string);
type Body = typeof text | PropertyField<unknown, string | null | undefined>;

const mayRead = (user: { hasPermission(permission: string): boolean }): boolean => user.hasPermission("read");
const yes = (): boolean => true;
class Granted {
  hasPermission(): boolean {
    return true;
  }
}
const limit = rateLimit({ perMinute: 100 });

/** Every way to guard a field. */
const guarded = {
  "auth: true": () => field(text, { auth: true }),
  "a function": () => field(text, { auth: mayRead }),
  permissionClasses: () => field(text, { permissionClasses: [Granted] }),
  limit: () => field(text, { limit }),
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
const refusal = (Memo: ObjectType<Memo>): string => {
  try {
    build(Memo);
  } catch (error) {
    if (error instanceof ResolverError) return error.message;
    throw error;
  }
  return "none";
};

/** vitest compiles no decorators: this calls one as a compiler does. */
const decorate = (factory: unknown, model: abstract new () => object): void =>
  (factory as (target: object, key: string) => void)(model.prototype as object, "body");

describe.each(Object.entries(guarded))("a field of an interface with %s", (name, make) => {
  const Secret = interfaceOf("Secret", make());
  const Plain = interfaceOf("Plain", open);
  const option = name.startsWith("auth") || name === "a function" ? "auth" : name;

  it("is rejected together with an interface that has no gate, in both orders of implements", () => {
    const sentence = (names: string): string =>
      `Memo.body: is inherited from the interfaces ${names}, which guard it with different gates. Declare the same auth, permissionClasses and limit in each of them, or declare the field in Memo with all their gates`;

    expect(refusal(memoOf(undefined, [Secret, Plain]))).toBe(sentence("Secret and Plain"));
    expect(refusal(memoOf(undefined, [Plain, Secret]))).toBe(sentence("Plain and Secret"));
  });

  it("is rejected if an object redeclares it without the gate", () => {
    expect(refusal(memoOf(open, [Secret]))).toBe(
      `Memo.body: redeclares a field of the interface Secret without its gate. Declare it with the same ${option}, or do not redeclare it`,
    );
    expect(refusal(memoOf(open, [Plain, Secret]))).toContain("Memo.body: redeclares a field of the interface Secret");
  });

  it("is rejected if another interface redeclares it without the gate, also for types that implement that one", () => {
    const Looser = interfaceOf("Looser", open, [Secret]);

    expect(refusal(memoOf(undefined, [Looser]))).toContain("Looser.body: redeclares a field of the interface Secret");
    expect(refusal(memoOf(undefined, [Secret, Looser]))).toContain("Looser.body: redeclares a field");
    expect(refusal(memoOf(make(), [Looser]))).toContain("Looser.body: redeclares a field");
  });

  it("is rejected if it is inherited from the interface of an interface and from another one", () => {
    const Middle = interfaceOf("Middle", undefined, [Secret]);

    expect(refusal(memoOf(undefined, [Middle, Plain]))).toContain("from the interfaces Secret and Plain");
    expect(refusal(memoOf(undefined, [Plain, Middle]))).toContain("from the interfaces Plain and Secret");
  });

  it("is rejected if a class redeclares it without the gate", () => {
    class Row implements Memo {
      readonly id = "1";
      readonly body = "TOP SECRET";
    }
    decorate(field(text), Row);
    const OfClass: ObjectType<Memo> = object("Memo", { id: t.id }, { implements: [Secret], model: Row });

    expect(refusal(OfClass)).toContain("Memo.body: redeclares a field of the interface Secret without its gate");
  });

  it("is rejected if a field under another key has its name", () => {
    const Renamed = t.interface(
      "Renamed",
      { id: t.id, hidden: field(text, { ...options(name), name: "body" }) } as never,
      {
        resolveType: () => "Memo",
      },
    ) as InterfaceType<Memo>;
    const shadowing = object(
      "Memo",
      { id: t.id, body: open, hidden: field(text, { name: "other" })(() => "") } as never,
      { implements: [Renamed] },
    ) as ObjectType<Memo>;

    expect(refusal(shadowing)).toContain("Memo.body: redeclares a field of the interface Renamed without its gate");
  });

  it("can be inherited, and redeclared with the same gate", () => {
    const Other = interfaceOf("Other", make());

    expect(refusal(memoOf(undefined, [Secret]))).toBe("none");
    expect(refusal(memoOf(undefined, [Secret, Other]))).toBe("none");
    expect(refusal(memoOf(make(), [Secret]))).toBe("none");
    expect(refusal(memoOf(make(), [Plain, Secret]))).toBe("none");
    expect(refusal(memoOf(make(), [Plain]))).toBe("none");
    expect(refusal(memoOf(undefined, [interfaceOf("Middle", make(), [Secret]), Secret]))).toBe("none");
  });

  it("is rejected if a class redeclares it without the gate of the class it extends", () => {
    class Base {
      readonly body: string = "TOP SECRET";
    }
    decorate(make(), Base);
    class Looser extends Base {}
    decorate(field(text), Looser);
    const Kept = class KeptMemo extends Base {};

    expect(() => schema({ query: { memo: field(() => Looser)(() => new Looser()) } })).toThrow(
      `Looser.body: redeclares a field of a class that it extends without its gate. Declare it with the same ${option}`,
    );
    expect(() => schema({ query: Looser as never })).toThrow(ResolverError);
    expect(() => schema({ query: { memo: field(Kept)(() => new Kept()) } })).not.toThrow();
  });
});

const options = (name: string): object =>
  ({
    "auth: true": { auth: true },
    "a function": { auth: mayRead },
    permissionClasses: { permissionClasses: [Granted] },
    limit: { limit },
  })[name] ?? {};

it("accepts another gate only if it includes the inherited one", () => {
  const SignedIn = interfaceOf("SignedIn", field(text, { auth: true }));
  const Reader = interfaceOf("Reader", field(text, { auth: mayRead }));
  const Both = field(text, { auth: mayRead, permissionClasses: [Granted] });

  expect(refusal(memoOf(field(text, { auth: mayRead }), [SignedIn]))).toBe("none");
  expect(refusal(memoOf(Both, [SignedIn, Reader, interfaceOf("Classes", guarded.permissionClasses())]))).toBe("none");
  expect(refusal(memoOf(field(text, { auth: true }), [Reader]))).toContain("without its gate");
  expect(refusal(memoOf(field(text, { auth: yes }), [Reader]))).toContain("without its gate");
  expect(refusal(memoOf(undefined, [SignedIn, Reader]))).toContain("with different gates");
  expect(refusal(memoOf(undefined, [Reader, SignedIn]))).toContain("with different gates");
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
    const refused = await ask(built, query, { user: somebody("bob") });

    expect(denial(refused)).toMatch(/body FORBIDDEN$/);
    expect(JSON.stringify(refused)).not.toContain("TOP SECRET");
    expect(JSON.stringify(await data(built, query, { user: somebody("ada", ["read"]) }))).toContain("TOP SECRET");
  });
});
