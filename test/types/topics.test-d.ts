import { type BaseContext, type Topic, topic } from "portico";
import type { Lost } from "portico/types";
import { expectTypeOf, it } from "vitest";

interface Tree {
  readonly name: string;
  readonly children: readonly Tree[];
}
interface Placed {
  readonly id: string & { readonly brand: "order" };
  readonly total: number | null;
  readonly paid: boolean;
  readonly kind: "novel" | "poetry";
  readonly note?: string;
  readonly by?: string | undefined;
  readonly tags: readonly [string, ...number[]];
  readonly rest: Readonly<Record<string, unknown>>;
}

it("a topic carries what JSON gives back as it was", () => {
  expectTypeOf(topic<Placed>("placed")).toEqualTypeOf<Topic<Placed>>();
  expectTypeOf(topic<Tree>("tree")).toEqualTypeOf<Topic<Tree>>();
  expectTypeOf(topic<{ a: 1 } | { b: string[] } | null>("union")).toExtend<object>();
  topic<unknown>("anything");
  topic<any>("anything");
  topic<object>("objects");

  const follow = async (ctx: BaseContext): Promise<void> => {
    for await (const event of ctx.pubsub.subscribe(topic<Placed>("placed")))
      expectTypeOf(event).toEqualTypeOf<Placed>();
  };
  void follow;
});

it("a topic of anything else is an error where it is made", () => {
  // @ts-expect-error a Date arrives as a string
  topic<{ at: Date }>("x");
  // @ts-expect-error also further down
  topic<{ rows: { at?: Date | null }[] }>("x");
  // @ts-expect-error also as one of several
  topic<{ id: string } | { at: Date }>("x");
  // @ts-expect-error a bigint cannot be published
  topic<{ n: bigint }>("x");
  // @ts-expect-error a function does not arrive
  topic<{ id: string; save(): void }>("x");
  // @ts-expect-error a Map arrives empty
  topic<Map<string, number>>("x");
  // @ts-expect-error undefined in a list arrives as null
  topic<(string | undefined)[]>("x");
  // @ts-expect-error nothing is no event
  topic<undefined>("x");
});

it("the error names the properties", () => {
  expectTypeOf<Lost<{ id: string; at: Date; n?: bigint }>>().toEqualTypeOf<{
    readonly at: Date;
    readonly n?: bigint;
  }>();
});
