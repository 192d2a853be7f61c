import { execute, type GraphQLSchema, parse } from "graphql";
import type { TypePlace } from "../../src/graphql/declare/references/type-options.ts";
import { field, type ObjectType, object, schema, t } from "../../src/graphql/index.ts";
import { GraphContext } from "../../src/graphql/operation/graph-context.ts";
import { every } from "../../src/kernel/access/every.ts";
import type { Auth } from "../../src/kernel/access/gate.ts";
import { rule } from "../../src/kernel/access/rule.ts";
import { type AuthorRow, authors, type BookRow } from "./graphql/library.ts";

const isShort = process.argv.includes("--short");
const ROUNDS = isShort ? 400 : 2_000;
const WARM_UP = isShort ? 200 : 500;
const GOAL_MICROSECONDS = 1;
const BOOKS = authors.reduce((count, { books }) => count + books.length, 0);

const cheap = rule<BookRow>({ name: "book.cheap", allows: (user, book) => user.isAuthenticated && book.price < 100 });
const half = rule<BookRow>({ name: "book.half", allows: (_user, { id }) => Number(id.at(-1)) % 2 === 0 });
const later = rule<BookRow>({ name: "book.later", allows: async (_user, book) => book.price < 100 });

const cases: Readonly<Record<string, Auth<TypePlace<BookRow>>>> = {
  "a rule": cheap,
  "a rule that refuses every second object": half,
  "every(true, a rule)": every(true, cheap),
  "a function of the object": (user, { parent }) => user.isAuthenticated && parent.price < 100,
  "an async rule": later,
};

/** What a gate on a type costs for each of the 100 objects of a list, over the same list without it. */
export async function run(): Promise<void> {
  console.log(`${BOOKS} objects in 20 lists, ${ROUNDS} rounds of each in turn, microseconds of each object, median`);
  let figure = Number.NaN;
  for (const [name, auth] of Object.entries(cases)) {
    const [open, gated] = await compare(libraryWith(), libraryWith(auth));
    const cost = gated - open;
    console.log(
      `${name.padEnd(42)}${open.toFixed(2).padStart(8)}${gated.toFixed(2).padStart(8)}${cost.toFixed(2).padStart(8)}`,
    );
    if (name === "a rule") figure = cost;
  }
  const isReached = figure <= GOAL_MICROSECONDS;
  if (!isReached) process.exitCode = 1;
  console.log(
    `bench rules: a type rule costs ${figure.toFixed(2)} microseconds per object (goal ${GOAL_MICROSECONDS}: ${isReached ? "reached" : "not reached"})`,
  );
}

function libraryWith(auth?: Auth<TypePlace<BookRow>>): GraphQLSchema {
  const fields = { id: t.id, title: t.string, year: t.int, price: t.float };
  const Book: ObjectType<BookRow> = object("Book", fields, auth === undefined ? {} : { auth });
  const Author: ObjectType<AuthorRow> = object("Author", {
    id: t.id,
    name: t.string,
    born: t.int,
    country: t.string,
    genre: t.string,
    books: field(t.list(Book))(({ parent }) => parent.books),
  });
  return schema({ query: { authors: field(t.list(Author))(() => authors) } });
}

const document = parse("{ authors { id name born country genre books { id title year price } } }");

async function compare(open: GraphQLSchema, gated: GraphQLSchema): Promise<readonly [open: number, gated: number]> {
  const times: readonly [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [index, built] of [open, gated].entries()) {
      const took = await execution(built);
      if (round >= 0) times[index]?.push(took);
    }
  }
  return [median(times[0]), median(times[1])];
}

async function execution(built: GraphQLSchema): Promise<number> {
  const user = { isAuthenticated: true };
  const connection = { services: {}, identity: { user }, user };
  const contextValue = new GraphContext(connection as never, { operationName: null, cost: null });
  const start = process.hrtime.bigint();
  const { errors } = await execute({ schema: built, document, contextValue });
  const end = process.hrtime.bigint();
  if (errors !== undefined) throw errors[0] as Error;
  return Number(end - start) / 1_000 / BOOKS;
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}
