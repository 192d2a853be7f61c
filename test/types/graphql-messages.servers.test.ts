import { describe, expect, it } from "vitest";
import { compileSnippets, type Snippet } from "../../scripts/snippets/snippets.ts";

const HEAD = `import { Depend } from "portico";
import { connection, field, mutation, object, type ObjectType, schema, subscription, t } from "portico/graphql";
import { AsyncListDataHandler, CursorPagination, SyncListDataHandler } from "portico/pagination";
interface AuthorRow { id: string; name: string; email: string }
interface BookRow { id: string; title: string; author_id: string }
const Author: ObjectType<AuthorRow> = object("Author", { id: t.id, name: t.string });
const Book: ObjectType<BookRow> = object("Book", { id: t.id, title: t.string });
declare const authors: readonly AuthorRow[];
const newest = new CursorPagination();
`;

/** The common mistakes, and the words that the compiler must find for them. */
const mistakes: Readonly<Record<string, readonly [code: string, ...words: string[]]>> = {
  "a wrong return": [
    `field(t.string, { params: { n: t.int } })(({ n }) => n);`,
    "Type 'number' is not assignable to type 'MaybePromise<string>'",
  ],
  "a wrong return of an object": [
    `field(Book)(() => ({ id: "1", title: "Emma" }));`,
    "Property 'author_id' is missing in type '{ id: string; title: string; }' but required in type 'BookRow'",
  ],
  "a wrong use of an argument": [
    `field(t.string, { params: { limit: t.int(10) } })(({ limit }) => limit.toUpperCase());`,
    "Property 'toUpperCase' does not exist on type 'number'",
  ],
  "an undeclared parameter": [
    `field(t.string, { params: { limit: t.int(10) } })(({ limt }) => String(limt));`,
    "Property 'limt' does not exist on type",
  ],
  "a rest of the parameters": [
    `field(t.string, { params: { limit: t.int(10) } })(({ limit, ...rest }) => String([limit, rest]));`,
    "Rest types may only be created from object types",
  ],
  "a filter that does not name the parent": [
    `connection(Book, newest, { cursorScope: ({ parent }) => ({ author: parent.id }) });`,
    `Property 'id' does not exist on type '{ readonly "name the parent: cursorScope: ({ parent }: Of<Row>) => ...": never; }'`,
  ],
  "wrong rows in a connection": [
    `connection(Book, newest)(() => authors);`,
    "Type 'AuthorRow' is missing the following properties from type 'BookRow': title, author_id",
  ],
  "wrong rows in a connection's sync handler": [
    `connection(Book, newest)(() => new SyncListDataHandler(authors));`,
    "The types returned by 'getItems(...)' are incompatible between these types",
    "Type 'AuthorRow' is missing the following properties from type 'BookRow': title, author_id",
  ],
  "wrong rows in a connection's async handler": [
    `connection(Book, newest)(() => new AsyncListDataHandler(authors));`,
    "The types returned by 'getItems(...)' are incompatible between these types",
    "Type 'AuthorRow' is missing the following properties from type 'BookRow': title, author_id",
  ],
  "a cursor over a column that the rows do not have": [
    `connection(Book, new CursorPagination({ sortField: "price" }));`,
    `Type '"price"' is not assignable to type 'keyof BookRow'`,
  ],
  "a parameter of a connection that is named as one of its arguments": [
    `connection(Book, newest, { params: { first: t.int } });`,
    `is not assignable to type '"every connection has this argument: choose another name"'`,
  ],
  "a gate that does not return a boolean": [
    `field(t.string, { auth: (user) => user.identity });`,
    "Type 'string' is not assignable to type 'MaybePromise<boolean>'",
  ],
  "a misspelt type": [`field(t.strng);`, "Property 'strng' does not exist on type", "Did you mean 'string'?"],
  "a null in a field that is not nullable": [
    `field(t.int)(() => null);`,
    "Type 'null' is not assignable to type 'MaybePromise<number>'",
  ],
  "a second parameter of a resolver": [
    `field(t.string)((args: object, info: object) => "");`,
    "Target signature provides too few arguments. Expected 2 or more, but got 1",
  ],
  "a root field without a resolver": [
    `schema({ query: { a: field(t.int) } });`,
    `Property '"give the field its resolver"' is missing`,
  ],
  "a permission class without its method": [
    `class IsOwner { hasPermision() { return true; } }
    field(t.string, { permissionClasses: [IsOwner] });`,
    "Property 'hasPermission' is missing in type 'IsOwner' but required in type 'FieldPermission'",
  ],
  "an output type as an argument": [
    `field(t.string, { params: { book: Book } });`,
    "Type 'ObjectType<BookRow>' is not assignable to type 'Param'",
  ],
  "a field of another parent": [
    `const B: ObjectType<BookRow> = object("Book", { name: field(t.string)(({ parent }: { parent: AuthorRow }) => parent.name) });`,
    "Type 'BookRow' is missing the following properties from type 'AuthorRow': name, email",
  ],
  "a missing annotation on a recursive constant": [
    `const Node = object("Node", { next: field(() => Node)(({ parent }) => parent) });`,
    "'Node' implicitly has type 'any' because it does not have a type annotation",
  ],
  "a missing annotation": [
    `const Node = object("Node", { id: t.id });`,
    "annotate the constant with its parent type: const X: ObjectType<Row> = object(...)",
  ],
  "a misspelt property": [
    `const B: ObjectType<BookRow> = object("Book", { titel: t.string });`,
    `"no such property on the parent"`,
    `"titel"`,
  ],
  "a property of another type": [
    `const B: ObjectType<BookRow> = object("Book", { title: t.int });`,
    `"the field type does not match the property"`,
  ],
  "a misspelt option": [`field(t.string, { atuh: true });`, "'atuh' does not exist in type 'FieldOptions<"],
  "a misspelt option beside good ones": [
    `field(t.string, { params: { limit: t.int }, cost: 1, desciption: "" })(() => "");`,
    "'desciption' does not exist in type 'FieldOptions<",
    "Did you mean to write 'description'?",
  ],
  "a misspelt option of a subscription": [
    `subscription(Book, { share: true });`,
    "'share' does not exist in type 'SubscriptionOptions<",
  ],
  "a misspelt root": [
    `schema({ query: { a: field(t.int)(() => 1) }, mutations: {} });`,
    "'mutations' does not exist in type 'SchemaConfig<",
  ],
  "a mutation among the queries": [`schema({ query: { a: mutation(t.int)(() => 1) } });`, `"must be declared with"`],
  "a reserved name": [
    `field(t.string, { params: { parent: t.string } });`,
    `is not assignable to type '"this name is reserved for the parent object: choose another one"'`,
  ],
  "a subscription that is not a generator": [
    `subscription(t.int)(async () => 1);`,
    "Type 'Promise<number>' is missing the following properties from type 'AsyncGenerator<number, void, void>'",
  ],
};

describe("the compiler's message", () => {
  it("is readable for the common mistakes", async () => {
    const file = (title: string): string => `messages/${title.replaceAll(/\W/g, "-")}`;
    const snippets = Object.entries(mistakes).map(
      ([title, [code]]): Snippet => ({ file: file(title), line: 1, language: "ts", code: HEAD + code }),
    );

    const faults = await compileSnippets("graphql-messages", snippets);

    // The compiler indents the further lines of a message.
    const messages = faults.reduce<string[]>(
      (all, line) => (line.startsWith(" ") ? [...all.slice(0, -1), `${all.at(-1)}\n${line}`] : [...all, line]),
      [],
    );
    for (const [title, [, ...words]] of Object.entries(mistakes)) {
      const mine = messages.filter((fault) => fault.startsWith(`${file(title)}:`)).join("\n");
      for (const text of words) expect.soft(mine, title).toContain(text);
    }
  });
});
