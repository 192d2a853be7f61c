import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import ts from "typescript";

// Makes the mistakes of docs/comparison.md, one at a time, and compares what the compiler says with the table there.

/** The mistakes in the order of the page: the file, its text and the replacement. */
const mistakes: readonly (readonly [file: string, right: string, wrong: string])[] = [
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
];

const root = join(import.meta.dirname, "..");
const { options, fileNames } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile).config,
  ts.sys,
  root,
);

/** Whether the application compiles with a text in place of a file. */
let last: ts.Program | undefined;
function compiles(file: string, text: string): boolean {
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
}

test("the compiler finds the mistakes that the comparison says it does", () => {
  const found = mistakes.map(([name, right, wrong]) => {
    const file = join(root, "src", name);
    const text = readFileSync(file, "utf8");
    assert.ok(text.includes(right), `${name} does not contain ${right}`);
    return compiles(file, text.replace(right, wrong)) ? "compiles" : "type error";
  });

  const page = readFileSync(join(root, "../../../docs/comparison.md"), "utf8");
  const rows = [...page.matchAll(/^\| [^|]+ \| (?:type error|compiles) \| (type error|compiles) \|$/gm)];
  assert.deepEqual(
    found,
    rows.map(([, there]) => there),
  );
});
