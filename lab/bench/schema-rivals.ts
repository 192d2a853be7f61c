/** How many types each program declares. */
export const TYPES = 500;

/** Loads the library first, then measures what declaring and building costs. */
export const HARNESS: string = `import { readFileSync } from "node:fs";
const file = process.argv[2];
for (const [, library] of readFileSync(file, "utf8").matchAll(/from "([^"]+)"/g)) await import(library);
const start = process.cpuUsage();
const { built } = await import(file);
const count = Object.keys(built().getTypeMap()).filter((name) => /^T\\d+$/.test(name)).length;
const { user, system } = process.cpuUsage(start);
if (count !== ${TYPES}) throw new Error("built " + count + " types");
console.log((user + system) / 1000);
`;

const indexes = Array.from({ length: TYPES }, (_, i) => i);
const next = (i: number, by: number): number => (i + by) % TYPES;
const rowTypes = indexes
  .map((i) => `interface R${i} { id: string; name: string; size: number; at${i}: number }`)
  .join("\n");
const makeRow = (i: number): string => `{ id: "1", name: "n", size: 1, at${i}: ${i} }`;

/** The same program in each library: three properties, a link, a list with two arguments, a computed field. */
export const generators: Readonly<Record<string, () => string>> = { portico, pothos, typegraphql };

function portico(): string {
  const types = indexes.map(
    (i) => `const T${i}: ObjectType<R${i}> = object("T${i}", {
  id: t.id,
  name: t.string,
  size: t.int,
  next: field(() => T${next(i, 1)})(({ parent }) => (${makeRow(next(i, 1))})),
  items: field(t.list(() => T${next(i, 2)}), { params: { limit: t.int(10), q: t.nullable(t.string) } })(({ limit, q }) => limit > 1 && q !== null ? [${makeRow(next(i, 2))}] : []),
  label: field(t.string, { description: "Label" })(({ parent }) => parent.name + parent.at${i}),
});`,
  );
  return `import { field, object, schema, t, type ObjectType } from "portico/graphql";
${rowTypes}
${types.join("\n")}
export const built = () => schema({ query: { first: field(T0)(() => (${makeRow(0)})) } });
`;
}

function pothos(): string {
  const refs = indexes.map((i) => `const T${i} = builder.objectRef<R${i}>("T${i}");`);
  const types = indexes.map(
    (i) => `T${i}.implement({ fields: (t) => ({
  id: t.exposeID("id"),
  name: t.exposeString("name"),
  size: t.exposeInt("size"),
  next: t.field({ type: T${next(i, 1)}, resolve: (parent) => (${makeRow(next(i, 1))}) }),
  items: t.field({ type: [T${next(i, 2)}], args: { limit: t.arg.int({ required: true, defaultValue: 10 }), q: t.arg.string() }, resolve: (_parent, { limit, q }) => limit > 1 && q != null ? [${makeRow(next(i, 2))}] : [] }),
  label: t.string({ description: "Label", resolve: (parent) => parent.name + parent.at${i} }),
}) });`,
  );
  return `import SchemaBuilder from "@pothos/core";
const builder = new SchemaBuilder<{ DefaultFieldNullability: false }>({ defaultFieldNullability: false });
${rowTypes}
${refs.join("\n")}
${types.join("\n")}
builder.queryType({ fields: (t) => ({ first: t.field({ type: T0, resolve: () => (${makeRow(0)}) }) }) });
export const built = () => builder.toSchema();
`;
}

function typegraphql(): string {
  const types = indexes.map(
    (i) => `@ObjectType()
class T${i} {
  @Field(() => ID) id!: string;
  @Field(() => String) name!: string;
  @Field(() => Int) size!: number;
  at${i}!: number;
}`,
  );
  const resolvers = indexes.map(
    (i) => `@Resolver(() => T${i})
class Resolver${i} {
  @FieldResolver(() => T${next(i, 1)}) next(@Root() _parent: T${i}): T${next(i, 1)} { return ${makeRow(next(i, 1))}; }
  @FieldResolver(() => [T${next(i, 2)}]) items(@Arg("limit", () => Int, { defaultValue: 10 }) limit: number, @Arg("q", () => String, { nullable: true }) q?: string | null): T${next(i, 2)}[] { return limit > 1 && q != null ? [${makeRow(next(i, 2))}] : []; }
  @FieldResolver(() => String, { description: "Label" }) label(@Root() parent: T${i}): string { return parent.name + parent.at${i}; }
}`,
  );
  return `import "reflect-metadata";
import { Arg, buildSchemaSync, Field, FieldResolver, ID, Int, ObjectType, Query, Resolver, Root } from "type-graphql";
${types.join("\n")}
${resolvers.join("\n")}
@Resolver()
class QueryResolver { @Query(() => T0) first(): T0 { return ${makeRow(0)}; } }
export const built = () => buildSchemaSync({ resolvers: [QueryResolver, ${indexes.map((i) => `Resolver${i}`).join(", ")}], validate: false });
`;
}
