import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { buildSchema, introspectionFromSchema } from "graphql";
import { HttpException, PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runHere, runOnTerminal, runPortico } from "./run-portico.ts";

const fixture = (name: string): string => resolve(import.meta.dirname, "fixtures", name);
const shop = ["--config", fixture("shop.config.ts")];
const twoGraphs = ["--config", fixture("two-graphs.config.ts")];

const SHOP_SDL = `type Mutation {
  addBook(title: String!): String
}

type Query {
  books: [String!]!
}
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "portico-schema-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function oldFile(name: string, text: string): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, text);
  return file;
}

describe("portico schema print", () => {
  it("prints the schema as SDL", async () => {
    expect(await runPortico(["schema", "print", ...shop])).toEqual({ code: 0, out: SHOP_SDL, err: "" });
    expect((await runOnTerminal(["schema", "print", ...shop])).out).toBe(SHOP_SDL);
  });

  it("prints it with its path as JSON, sorted by name", async () => {
    const { out } = await runHere(["schema", "print", "--path", "/graphql", "--json", ...twoGraphs]);

    expect(JSON.parse(out)).toEqual({ path: "/graphql", sdl: "type Query {\n  a: Int!\n  b: String!\n}\n" });
  });

  it("asks which endpoint if there are several, and rejects a path without one", async () => {
    expect(await runHere(["schema", "print", ...twoGraphs])).toMatchObject({
      code: 2,
      err: expect.stringContaining("several GraphQL endpoints: pass --path /graphql or --path /admin"),
    });
    expect(await runHere(["schema", "print", "--path", "/x", ...twoGraphs])).toMatchObject({
      code: 2,
      err: expect.stringContaining("--path /x: the GraphQL endpoints are /graphql, /admin"),
    });
  });
});

describe("portico schema check", () => {
  it("ends with 0 if nothing changed", async () => {
    const file = await oldFile("same.graphql", SHOP_SDL);

    expect(await runHere(["schema", "check", file, ...shop])).toEqual({ code: 0, out: "no changes\n", err: "" });
  });

  it("ends with 1 on a breaking change, and lists the worst changes first", async () => {
    const file = await oldFile("removed.graphql", SHOP_SDL.replace("books:", "authors: Int\n  books(first: Int):"));

    const { code, out } = await runHere(["schema", "check", file, ...shop]);

    expect(code).toBe(1);
    expect(out).toBe(
      [
        "LEVEL     CHANGE",
        "breaking  Argument 'first: Int' was removed from field 'Query.books'",
        "breaking  Field 'authors' was removed from object type 'Query'",
        "",
        "2 breaking, 0 dangerous and 0 safe changes",
        "",
      ].join("\n"),
    );
  });

  it("ends with 0 if all changes are safe or dangerous", async () => {
    const file = await oldFile("added.graphql", "type Query { books: [String!]! }");

    const { code, out } = await runHere(["schema", "check", file, "--json", ...shop]);

    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ breaking: 0, dangerous: 0, safe: expect.any(Number) });
    expect(JSON.parse(out).changes).toContainEqual({
      level: "safe",
      path: "Mutation",
      message: "Type 'Mutation' was added",
    });
  });

  it("asks a running endpoint for its schema, with headers", async () => {
    const app = new PorticoApp({ logger: false });
    app.use(async (ctx, next) => {
      if (ctx.request.headers["x-team"] !== "shop") throw new HttpException(403, "Only for the shop");
      await next();
    });
    new Graph(schema({ query: { gone: field(t.string)(() => "") } })).mount(app);
    const { url } = await app.listen({ port: 0 });
    const check = (...more: string[]) => runHere(["schema", "check", `${url}/graphql`, ...more, ...shop]);

    const compared = await check("--header", "x-team: shop");
    const refused = await check();
    await app.close();
    const away = await check();

    expect(compared.out).toContain("Field 'gone' was removed from object type 'Query'");
    expect(compared.code).toBe(1);
    expect(refused.err).toContain("did not return its schema (status 403)");
    // By then a kept connection may be closing, which has another reason.
    expect(away.err).toMatch(/cannot be reached: (?:connect ECONNREFUSED|other side closed)/);
    expect([refused.code, away.code]).toEqual([1, 1]);
  });

  it("reads an introspection result, and says what is wrong with other files", async () => {
    const result = introspectionFromSchema(buildSchema(SHOP_SDL));
    const json = await oldFile("schema.json", JSON.stringify({ data: result }));
    const broken = await oldFile("broken.graphql", "type Query {");

    expect((await runHere(["schema", "check", json, ...shop])).out).toBe("no changes\n");
    expect((await runHere(["schema", "check", broken, ...shop])).err).toContain("is not a GraphQL schema: Syntax");
    expect((await runHere(["schema", "check", join(folder, "missing.graphql"), ...shop])).err).toContain(
      "cannot be read: ENOENT",
    );
  });

  it("names the package to install if GraphQL Inspector is missing", async () => {
    const file = await oldFile("any.graphql", SHOP_SDL);
    const env = { NODE_OPTIONS: `--import ${fixture("without-inspector.mjs")}` };

    expect(await runPortico(["schema", "check", file, ...shop], { env })).toEqual({
      code: 1,
      out: "",
      err: "portico: portico schema check compares schemas with GraphQL Inspector. Run: npm install --save-dev @graphql-inspector/core\n",
    });
  });
});
