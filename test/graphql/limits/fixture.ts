import type { GraphQLSchema } from "graphql";
import { field, mutation, type ObjectType, object, schema, t } from "portico/graphql";
import type { Prepared } from "../../../src/graphql/admit/prepare-operation.ts";
import { Preparer } from "../../../src/graphql/admit/preparer.ts";
import { GraphRefusal } from "../../../src/graphql/errors/graph-refusal.ts";
import { Limits, type LimitsOptions } from "../../../src/graphql/limits/limits.ts";

interface Node {
  readonly id: string;
}

/** The schema at the top of the GraphQL corpus, without what limits do not touch; `twenty` declares a size of its own. */
export function fixtureSchema(): GraphQLSchema {
  const node = (): Node => ({ id: "1" });
  const nodes = (): Node[] => [node(), node()];
  const listSize = { argument: "first", max: 100 } as const;
  const first = t.arg(t.nullable(t.int), { default: 2 });
  const In = t.input("In", { s: t.nullable(t.string) });
  const Colour = t.enum("Colour", { RED: {}, GREEN: {} });
  const A: ObjectType<Node> = object("A", {
    id: t.nullable(t.id),
    a: field(t.nullable(() => A))(node),
    list: field(
      t.list(() => A),
      { params: { first }, listSize },
    )(nodes),
    plain: field(t.list(() => A))(nodes),
  });
  return schema({
    query: {
      hello: field(t.nullable(t.string))(() => "world"),
      a: field(t.nullable(A))(node),
      list: field(t.list(A), { params: { first }, listSize })(nodes),
      plain: field(t.list(A))(nodes),
      twenty: field(t.list(A), { listSize: 20 })(nodes),
      echo: field(t.nullable(t.string), {
        params: { x: t.nullable(t.json), s: t.nullable(t.string), o: t.nullable(In), colour: t.nullable(Colour) },
      })(() => ""),
      free: field(t.nullable(t.string), { cost: 0 })(() => ""),
      dear: field(t.nullable(t.string), { cost: 5000 })(() => ""),
    },
    mutation: { login: mutation(t.nullable(t.boolean), { params: { p: t.nullable(t.string) } })(() => true) },
  });
}

const shared = fixtureSchema();

export interface Settings {
  readonly limits?: LimitsOptions;
  readonly introspection?: boolean;
  readonly operationName?: string | null;
}

/** The operation, prepared against the fixture. */
export function prepare(
  source: string,
  { limits, introspection = true, operationName = null }: Settings = {},
): Prepared {
  const preparer = new Preparer(shared, { limits: Limits.from(limits), introspection });
  return preparer.prepare(preparer.choose(source, operationName));
}

/** Status, codes and first sentence of the refusal that there has to be. */
export function refused(source: string, settings: Settings = {}): string {
  return refusedBy(() => prepare(source, settings));
}

export function refusedBy(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (!(error instanceof GraphRefusal)) throw error;
    const codes = error.errors.map(({ extensions }) => String(extensions["code"]));
    return `${error.status} ${[...new Set(codes)].join(",")}: ${error.message}`;
  }
  return "not refused";
}

/** What the operation costs; the cost limit does not refuse here. */
export function costOf(source: string, variables: Record<string, unknown> = {}): number | undefined {
  return prepare(source).cost?.(variables);
}

/** `field` nested so many times, around a leaf. */
export function nested(times: number, opening: string, leaf = "id"): string {
  return `{${`${opening}{`.repeat(times)}${leaf}${"}".repeat(times)}}`;
}
