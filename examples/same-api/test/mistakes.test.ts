import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import ts from "typescript";

// Makes the mistakes of docs/comparison.md in each version, one at a time, and compares what the compiler says with the table there.

type Mistake = readonly [file: string, right: string, wrong: string];

/** The columns of the table after that of Portico, with the mistakes in the order of the page. */
const versions: Readonly<Record<string, readonly Mistake[]>> = {
  nestjs: [
    ["books/books.resolver.ts", "@RequirePermissions(", "@RequirePermisions("],
    ["auth/gql-auth.guard.ts", 'AuthGuard("jwt")', 'AuthGuard("jtw")'],
    ["books/books.resolver.ts", '["read:books"]', '["read:boks"]'],
    ["auth/permissions.guard.ts", "user.permissions.", "user.permisions."],
    ["books/books.resolver.ts", "user.username", "user.usernme"],
    ["books/books.resolver.ts", '@Args("title")', '@Args("titel")'],
    ["books/books.resolver.ts", '@Args("title")', '@Args("title", { type: () => Number })'],
    ["books/books.resolver.ts", "@Query(() => String", "@Query(() => Number"],
    ["books/book.ts", "  title: string;", "  title: string;\n\n  @Field(() => String)\n  subtitle?: string;"],
    ["books/books.resolver.ts", "paginate(this.books,", "paginate(this.books.map(({ id }) => ({ id })),"],
    ["books/books.resolver.ts", '"title", args', '"titel", args'],
    ["books/books.resolver.ts", "{ bookAdded: book }", "{ bookAdded: { id: book.id } }"],
    ["books/books.resolver.ts", 'asyncIterableIterator("bookAdded")', 'asyncIterableIterator("bookAded")'],
  ],
  yoga: [
    ["server.ts", "withAuth({ can:", "withAuth({ cna:"],
    ["server.ts", "bearer(),", "baerer(),"],
    ["server.ts", 'withAuth({ can: { books: ["read"] } })', 'withAuth({ can: { books: ["raed"] } })'],
    ["server.ts", "user?.role", "user?.rloe"],
    ["server.ts", "user.name", "user.nmae"],
    ["server.ts", "title: t.arg", "titel: t.arg"],
    ["server.ts", "t.arg.string(", "t.arg.int("],
    ["server.ts", ".string({ resolve", ".int({ resolve"],
    [
      "server.ts",
      'builder.objectRef<BookRow>("Book")',
      `builder.objectRef<BookRow>("Book");
builder.objectRef<BookRow & { subtitle?: string }>("Short").implement({
  fields: (t) => ({ subtitle: t.exposeString("subtitle", { nullable: false }) }),
});
void Book`,
    ],
    ["server.ts", "between).slice(0, limit)", "between).map(({ id }) => ({ id })).slice(0, limit)"],
    ["server.ts", "a.title.localeCompare", "a.titel.localeCompare"],
    ["server.ts", 'publish("book-added", book)', 'publish("book-added", { id: book.id })'],
    ["server.ts", 'subscribe("book-added")', 'subscribe("book-aded")'],
  ],
};

for (const [version, mistakes] of Object.entries(versions))
  test(`${version}: the compiler finds the mistakes that the comparison says it does`, () => {
    const compiles = compilerOf(join(import.meta.dirname, "..", version));
    const found = mistakes.map(([name, right, wrong]) => {
      const file = join(import.meta.dirname, "..", version, "src", name);
      const text = readFileSync(file, "utf8");
      assert.ok(text.includes(right), `${name} does not contain ${right}`);
      return compiles(file, text.replace(right, wrong)) ? "compiles" : "type error";
    });

    const page = readFileSync(join(import.meta.dirname, "../../../docs/comparison.md"), "utf8");
    const column = 3 + Object.keys(versions).indexOf(version);
    const rows = [...page.matchAll(/^\|[^|]+(?:\| (?:type error|compiles) ){3}\|$/gm)];
    assert.deepEqual(
      found,
      rows.map(([row]) => row.split("|")[column]?.trim()),
    );
  });

/** Returns whether the application in a folder compiles with a text in place of a file. */
function compilerOf(root: string): (file: string, text: string) => boolean {
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config,
    ts.sys,
    root,
  );
  let last: ts.Program | undefined;
  return (file, text) => {
    const host = ts.createCompilerHost(options);
    const known = new Map(last?.getSourceFiles().map((source) => [source.fileName, source]));
    const { getSourceFile } = host;
    host.getSourceFile = (name, ...rest) => {
      if (name === file)
        return ts.createSourceFile(
          name,
          text,
          { languageVersion: ts.ScriptTarget.ES2023, impliedNodeFormat: ts.ModuleKind.ESNext },
          true,
        );
      return name.startsWith(join(root, "src"))
        ? getSourceFile(name, ...rest)
        : (known.get(name) ?? getSourceFile(name, ...rest));
    };
    last = ts.createProgram({ rootNames: fileNames, options, host });
    return ts.getPreEmitDiagnostics(last).length === 0;
  };
}
