import type { GraphQLSchema } from "graphql";
import { type BaseContext, Depend, NotFound, rule } from "portico";
import { field, loader, mutation, object, schema, t } from "portico/graphql";
import { Chance } from "./chance.ts";

/** An object of these schemas: its place in the response decides how it behaves. */
interface Row {
  readonly place: string;
}

/** The seed of an operation, and everything that it called. */
export interface Journal {
  readonly seed: string;
  readonly lines: string[];
}

const journals = new WeakMap<object, Journal>();

export function keepJournal(ctx: object, seed: string): Journal {
  const journal = { seed, lines: [] };
  journals.set(ctx, journal);
  return journal;
}

function note(ctx: object, line: string): Chance {
  const journal = journals.get(ctx) as Journal;
  journal.lines.push(line);
  return new Chance(`${journal.seed} ${line}`);
}

/** A random schema with gates, rules, dependencies and loaders, made with Portico's own functions. */
export function randomPorticoSchema(seed: string): GraphQLSchema {
  const chance = new Chance(seed);
  const Leaf = objectOf("Leaf", {});
  const Branch = objectOf("Branch", { leaf: t.nullable(Leaf), leaves: t.list(Leaf), maybe: t.list(t.nullable(Leaf)) });
  const Tree = objectOf("Tree", { branch: Branch, branches: t.list(Branch), other: t.nullable(Leaf) });
  const types: Record<string, unknown> = {
    tree: t.nullable(Tree),
    trees: t.list(Tree),
    branch: Branch,
    word: t.nullable(t.string),
  };
  const query = Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, fieldOf(field, "Query", name, type)]),
  );
  const change = Object.fromEntries(
    Object.entries(types).map(([name, type]) => [name, fieldOf(mutation, "Mutation", name, type)]),
  );
  return schema({ query, mutation: change });

  function objectOf(name: string, links: Readonly<Record<string, unknown>>): any {
    const allowed = rule<Row>({
      name: `${name}.allowed`,
      allows: (_user: unknown, row: Row, { ctx }: any) => verdict(note(ctx, `rule ${row.place}`)) as never,
    } as never);
    const fields = {
      place: t.string,
      text: fieldOf(field, name, "text", t.string),
      count: fieldOf(field, name, "count", t.nullable(t.int)),
      ...Object.fromEntries(Object.entries(links).map(([key, type]) => [key, fieldOf(field, name, key, type)])),
    };
    return object(name, fields as never, (chance.is(0.4) ? { auth: allowed } : {}) as never);
  }

  function fieldOf(declare: any, owner: string, name: string, type: unknown): any {
    const isGated = chance.is(0.3);
    const isOpening = chance.is(0.3);
    const isLoading = chance.is(0.3);
    const isList = /es$|maybe/.test(name);
    const auth = (_user: unknown, { parent, ctx }: any): unknown =>
      verdict(note(ctx, `gate ${owner}.${name} ${(parent as Row | undefined)?.place ?? ""}`));
    const values = loader((places: readonly string[], { ctx }: any) => {
      note(ctx, `batch ${owner}.${name} ${places.toSorted().join(" ")}`);
      // Promises that settle in the same turn decide which keys below a null are in the batch, and the order of the keys.
      const { seed: of } = journals.get(ctx) as Journal;
      if (new Chance(`${of} batch ${owner}.${name}`).is(0.05)) throw new Error("batch");
      return places.map((place) => settled(() => resultOf(new Chance(`${of} loaded ${place}`), place, name, isList)));
    });
    const resolve = ({ parent, ctx, n, opened, info }: any): unknown => {
      const place = `${(parent as Row | undefined)?.place ?? ""}/${String(info.path.key)}`;
      const lot = note(ctx, `call ${owner}.${name} ${place} ${String(n)} ${String(opened)}`);
      return isLoading ? values.load(ctx as BaseContext, place) : resultOf(lot, place, name, isList);
    };
    const resolver = isOpening
      ? ({ parent, ctx, n, opened, info }: any) => resolve({ parent, ctx, n, opened, info })
      : ({ parent, ctx, n, info }: any) => resolve({ parent, ctx, n, info });
    const params = { n: t.int(3), ...(isOpening ? { opened: Depend(open) } : {}) };
    return declare(type, { params, ...(isGated ? { auth } : {}) })(resolver);
  }
}

async function* open({ ctx }: { readonly ctx: BaseContext }): AsyncGenerator<string> {
  note(ctx, "open");
  try {
    yield "opened";
  } finally {
    note(ctx, `close ${ctx.outcome}`);
  }
}

function verdict(lot: Chance): unknown {
  if (lot.is(0.03)) throw new Error("gate");
  const isOpen = lot.is(0.8);
  return lot.is(0.3) ? Promise.resolve(isOpen) : isOpen;
}

function resultOf(lot: Chance, place: string, name: string, isList: boolean): unknown {
  const one = (at: string): unknown => {
    if (lot.is(0.04)) throw lot.pick([new Error(`error ${at}`), new NotFound("not here")]);
    if (lot.is(0.05)) return null;
    if (name === "text" || name === "word") return at;
    return name === "count" ? lot.pick([1, "x", 1.5]) : ({ place: at } satisfies Row);
  };
  const make = (): unknown =>
    isList ? Array.from({ length: lot.below(4) }, (_, index) => one(`${place}/${index}`)) : one(place);
  return lot.is(0.3) ? (async () => make())() : make();
}

/** What a batch has for one key: it must not throw, and promises must not reject before the loader has them all. */
function settled(make: () => unknown): never {
  try {
    const value = make();
    if (value instanceof Promise) value.catch(() => {});
    return value as never;
  } catch (error) {
    return error as never;
  }
}
