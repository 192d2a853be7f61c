import {
  type DocumentNode,
  executeSync,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  parse,
} from "graphql";
import { field, type ObjectType, object, schema, t } from "../../src/graphql/index.ts";
import { GraphContext } from "../../src/graphql/operation/graph-context.ts";
import { Depend } from "../../src/kernel/context/depend.ts";

const PARENTS = 1_000;
const ROUNDS = 400;
const WARM_UP = 100;
const GOAL_MICROSECONDS = 0.3;

interface Row {
  readonly n: number;
}
const rows: readonly Row[] = Array.from({ length: PARENTS }, (_, n) => ({ n }));
const one = (): number => 1;

/** What a field costs over the same field written for graphql itself, in the middle of its rounds. */
export async function run(): Promise<void> {
  const cases = {
    "one argument": "{ rows { argument(by: 2) } }",
    "one argument and the parent": "{ rows { both(by: 2) } }",
    "parent, ctx and info": "{ rows { ambient } }",
    "a nullable argument left out": "{ rows { absent } }",
    "one argument and a dependency": "{ rows { dependency(by: 2) } }",
    "a gate of the user": "{ rows { gated } }",
  };
  console.log(
    `${PARENTS} fields per execution, ${ROUNDS} rounds of each, in turn; microseconds per field, the middle of the rounds`,
  );
  console.log(`${"".padEnd(32)}${"graphql".padStart(10)}${"portico".padStart(10)}${"over".padStart(10)}`);
  let figure = Number.NaN;
  for (const [name, source] of Object.entries(cases)) {
    const [raw, own] = compare(parse(source));
    console.log(
      `${name.padEnd(32)}${raw.toFixed(3).padStart(10)}${own.toFixed(3).padStart(10)}${(own - raw).toFixed(3).padStart(10)}`,
    );
    if (name === "one argument") figure = own - raw;
  }
  const verdict = figure <= GOAL_MICROSECONDS ? "reached" : "not reached";
  console.log(
    `resolver: ${figure.toFixed(3)} microseconds over a raw resolver with one argument (goal ${GOAL_MICROSECONDS}: ${verdict})`,
  );
}

function compare(document: DocumentNode): readonly [raw: number, own: number] {
  const times: readonly [number[], number[]] = [[], []];
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [index, built] of [rawSchema, ownSchema].entries()) {
      const took = execution(built, document);
      if (round >= 0) times[index]?.push(took);
    }
  }
  return [median(times[0]), median(times[1])];
}

function execution(built: GraphQLSchema, document: DocumentNode): number {
  const user = { isAuthenticated: true };
  const connection = { services: {}, identity: { user }, user };
  const contextValue = new GraphContext(connection as never, { operationName: null, cost: null });
  const start = process.hrtime.bigint();
  const { errors } = executeSync({ schema: built, document, contextValue });
  const end = process.hrtime.bigint();
  if (errors !== undefined) throw errors[0] as Error;
  return Number(end - start) / 1_000 / PARENTS;
}

function median(times: readonly number[] | undefined): number {
  return times?.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

const int = new GraphQLNonNull(GraphQLInt);
const by = { by: { type: int } };
const rawSchema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: "Query",
    fields: {
      rows: {
        type: new GraphQLNonNull(
          new GraphQLList(
            new GraphQLNonNull(
              new GraphQLObjectType<Row, GraphContext>({
                name: "Row",
                fields: {
                  argument: { type: int, args: by, resolve: (_row, args) => args["by"] as number },
                  both: { type: int, args: by, resolve: (row, args) => row.n + (args["by"] as number) },
                  ambient: {
                    type: int,
                    resolve: (row, _args, graph, info) =>
                      row.n + (graph.connection === undefined ? 1 : 0) + info.fieldName.length,
                  },
                  absent: {
                    type: int,
                    args: { by: { type: GraphQLInt } },
                    resolve: (row, args) => row.n + ((args["by"] as number | undefined) ?? 1),
                  },
                  dependency: { type: int, args: by, resolve: (_row, args) => (args["by"] as number) + 1 },
                  gated: {
                    type: int,
                    resolve: (row, _args, graph) => (graph.connection.user.isAuthenticated ? row.n : 0),
                  },
                },
              }),
            ),
          ),
        ),
        resolve: () => rows,
      },
    },
  }),
});

const Row: ObjectType<Row> = object("Row", {
  argument: field(t.int, { params: { by: t.int } })(({ by }) => by),
  both: field(t.int, { params: { by: t.int } })(({ parent, by }) => parent.n + by),
  ambient: field(t.int)(({ parent, ctx, info }) => parent.n + (ctx === undefined ? 1 : 0) + info.fieldName.length),
  absent: field(t.int, { params: { by: t.nullable(t.int) } })(({ parent, by }) => parent.n + (by ?? 1)),
  dependency: field(t.int, { params: { by: t.int, one: Depend(one) } })(({ by, one }) => by + one),
  gated: field(t.int, { auth: (user) => user.isAuthenticated })(({ parent }) => parent.n),
});
const ownSchema = schema({ query: { rows: field(t.list(Row))(() => rows) } });

if (import.meta.main) await run();
