import { existsSync, globSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "graphql-ws";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import type { Lock } from "../scripts/lock.ts";
import { folderWithPackage } from "../scripts/package/built-package.ts";
import { read, root } from "../scripts/package/repository.ts";
import { compileSnippets, pageSnippets } from "../scripts/snippets/snippets.ts";
import { type Program, startProgram } from "./docs/program.ts";

const page = "docs/comparison.md";
const [slice = ""] = pageSnippets(page).map(({ code }) => code);

/** The mistakes on the page, in order: the text in the slice and its replacement. */
const mistakes: readonly (readonly [right: string, wrong: string])[] = [
  ["{ auth: (user)", "{ auht: (user)"],
  ['scopes: ["jwt"]', 'scopes: ["jtw"]'],
  ['hasPermission("read:books")', 'hasPermission("read:boks")'],
  ["user.hasPermission(", "user.hasPermision("],
  ["ctx.user.displayName", "ctx.user.displayNme"],
  ["params: { title: t.string }", "params: { titel: t.string }"],
  ["params: { title: t.string }", "params: { title: t.int }"],
  ["me: field(t.string", "me: field(t.int"],
  [
    "title: string;\n}",
    'title: string;\n  subtitle?: string;\n}\nconst Short: ObjectType<BookRow> = object("Short", { subtitle: t.string });\nvoid Short;',
  ],
  ["(() => books)", "(() => books.map(({ id }) => ({ id })))"],
  ['[["title", "asc"]]', '[["titel", "asc"]]'],
  ["publish(bookAdded, book)", "publish(bookAdded, { id: book.id })"],
  ["subscribe(bookAdded)", "subscribe(bookAded)"],
];

/** Lines that are neither empty nor comments. */
function linesOf(texts: readonly string[]): number {
  return texts.flatMap((text) => text.split("\n")).filter((line) => !/^\s*(?:$|\/\/|\/\*|\*)/.test(line)).length;
}

describe("the tables of features", () => {
  const [, section = ""] = /^## Features$(.*?)^## /ms.exec(read(page)) ?? [];
  // Another table has the dates of the cells.
  const tables = [...`${section}\n\n`.matchAll(/^\| Feature \|.*?\n\n/gms)].map(([table]) => table);
  const rows = tables
    .flatMap((table) => table.split("\n"))
    .filter((line) => line.startsWith("| ") && !line.startsWith("| Feature |"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );

  it("link each feature of Portico to a test, or say no", () => {
    const linked = rows.map(
      ([, ours = ""]) => /\]\(\.\.\/(?<file>test\/[\w/.-]+\.test\.ts)\)/.exec(ours)?.groups?.["file"],
    );

    expect(rows.length).toBeGreaterThan(50);
    expect(rows.filter(([, ours = ""], i) => !ours.startsWith("no ") && linked[i] === undefined)).toEqual([]);
    expect(linked.filter((file) => file !== undefined && !existsSync(join(root, file)))).toEqual([]);
    expect(
      rows.filter(
        ([, ours = ""]) => !/^(?:no <!-- lack: [\w-]+ -->|\[yes\]\(\S+\)|plugin \(\[`\S+`\]\(\S+\)\))$/.test(ours),
      ),
    ).toEqual([]);
  });

  it.each(["SAML", "gateway", "Edge", "generated from SDL", "MySQL", "jobs"])(
    "say that Portico lacks: %s",
    (feature) => {
      expect(rows.filter(([name = ""]) => name.includes(feature)).map(([, ours]) => ours)).toEqual([
        expect.stringMatching(/^no /),
      ]);
    },
  );

  it("name the plugin wherever another project needs one", () => {
    const cells = rows.flatMap(([, , ...others]) => others);

    expect(cells.filter((cell) => !/^(?:|no|yes(?: \(.+\))?|plugin \(.+\))$/.test(cell))).toEqual([]);
  });

  it.each(["GraphQL Yoga", "Apollo Server", "Mercurius", "NestJS", "Hot Chocolate", "better-auth"])(
    "name the version of %s",
    (project) => {
      expect(section).toMatch(new RegExp(`${project} \\d+`));
    },
  );
});

describe("the slice of the comparison", () => {
  let program: Program;
  let token = "";
  const tokenOf = async (identifier: string): Promise<string> => {
    const answer = await program.post("/account/token", { identifier, password: "correct horse battery" });
    return ((await answer.json()) as { readonly access_token: string }).access_token;
  };
  const ask = async (query: string, bearer: string): Promise<unknown> =>
    (await program.post("/graphql", { query }, { authorization: `Bearer ${bearer}` })).json();

  beforeAll(async () => {
    const folder = await folderWithPackage("slice");
    await writeFile(join(folder, "slice.ts"), slice);
    program = await startProgram(folder, "slice.ts");
    token = await tokenOf("ann");
  });
  afterAll(async () => void (await program?.end("SIGKILL")));

  it("has the figures of the tables, as do the other versions in the repository", () => {
    const others = ["nestjs", "yoga"].map((name) => {
      const folder = join(root, "examples/same-api", name);
      const { packages } = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as Lock;
      return {
        texts: globSync(join(folder, "src/**/*.ts")).map((file) => readFileSync(file, "utf8")),
        dependencies: Object.keys(
          (JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { dependencies: object }).dependencies,
        ),
        installed: Object.entries(packages).filter(([place, { dev }]) => place !== "" && dev !== true),
      };
    });
    const row = (name: string, ...cells: readonly number[]): string => `| ${name} | ${cells.join(" | ")} |`;
    const lines = row("Lines of code", linesOf([slice]), ...others.map(({ texts }) => linesOf(texts)));
    const installed = others.map(({ installed }) => installed.length);

    for (const file of [page, "README.md", "docs/why-portico.md"]) {
      expect(read(file)).toContain(lines);
      expect(read(file)).toMatch(
        new RegExp(`^\\| Packages installed \\| \\d+ \\| ${installed.join(" \\| ")} \\|$`, "m"),
      );
    }
    expect(read(page)).toContain(row("Files", 1, ...others.map(({ texts }) => texts.length)));
    expect(read(page)).toContain(
      row("Direct dependencies", 3, ...others.map(({ dependencies }) => dependencies.length)),
    );
  });

  it("answers the query only for a user with the permission", async () => {
    expect(await ask("{ me }", token)).toMatchObject({ data: { me: "ann" } });
    expect(await ask("{ me }", await tokenOf("ben"))).toMatchObject({
      errors: [{ extensions: { code: "FORBIDDEN" } }],
    });
    expect(await ask("{ me }", "")).toMatchObject({ errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
  });

  it("pages through the list by cursor", async () => {
    const books = "edges { node { title } } pageInfo { hasNextPage endCursor }";
    const first = (await ask(`{ books { ${books} } }`, token)) as {
      readonly data: { readonly books: { readonly pageInfo: { readonly endCursor: string } } };
    };
    const { endCursor } = first.data.books.pageInfo;

    expect(first).toMatchObject({ data: { books: { edges: [{ node: { title: "Emma" } }, {}] } } });
    expect(await ask(`{ books(after: "${endCursor}") { ${books} } }`, token)).toMatchObject({
      data: { books: { edges: [{ node: { title: "Persuasion" } }], pageInfo: { hasNextPage: false } } },
    });
  });

  it("publishes a new book to signed-in subscribers only", async () => {
    const url = `${program.url.replace("http", "ws")}/graphql`;
    const client = createClient({
      url,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${token}` },
    });
    const events = client.iterate({ query: "subscription { bookAdded { title } }" });
    const event = events.next();
    const adding = setInterval(() => void ask('mutation { addBook(title: "Silas Marner") { id } }', token), 200);

    expect((await event).value).toMatchObject({ data: { bookAdded: { title: "Silas Marner" } } });
    clearInterval(adding);
    await client.dispose();
    const anonymous = createClient({ url, webSocketImpl: WebSocket, retryAttempts: 0 });
    await expect(anonymous.iterate({ query: "subscription { bookAdded { title } }" }).next()).rejects.toMatchObject({
      code: 4403,
    });
  });

  it("fails to compile with exactly the mistakes that the page lists as type errors", async () => {
    const rows = [
      ...read(page).matchAll(
        /^\| [^|]+ \| (?<portico>type error|compiles) \| (?<nestjs>type error|compiles) \| (?<yoga>type error|compiles) \|$/gm,
      ),
    ];
    const snippets = mistakes.map(([right, wrong], i) => ({
      file: `mistake-${i}.md`,
      line: 1,
      language: "ts" as const,
      code: slice.replace("// slice.ts\n", "").replace(right, wrong),
    }));

    const faults = await compileSnippets("comparison", snippets);

    expect(mistakes.filter(([right]) => !slice.includes(right))).toEqual([]);
    const found = mistakes.map((_, i) =>
      faults.some((fault) => fault.startsWith(`mistake-${i}.md:`)) ? "type error" : "compiles",
    );
    expect(found).toEqual(rows.map(({ groups }) => groups?.["portico"]));
    const counts = ["portico", "nestjs", "yoga"].map(
      (version) => rows.filter(({ groups }) => groups?.[version] === "type error").length,
    );
    const claim = `| Mistakes that the compiler catches, out of ${rows.length} | ${counts.join(" | ")} |`;
    expect(read(page)).toContain(claim);
    expect(read("README.md")).toContain(claim);
    expect(read("docs/why-portico.md")).toContain(claim);
  });
});
