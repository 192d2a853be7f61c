import { randomUUID } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { APIKeys } from "portico/auth";
import { redisStores } from "portico/redis";
import { userModel } from "portico/sql";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { removeKeys } from "../redis/remove-keys.ts";
import { migratedPlace, type Place } from "../sql/accounts/databases.ts";
import { PASSWORD, REDIS_URL, runHere, runPortico } from "./run-portico.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** A folder with these files, in which the program runs as in a project. */
async function project(files: Readonly<Record<string, string>>) {
  const cwd = await temporaryFolder();
  for (const [name, text] of Object.entries({ "package.json": '{ "type": "module" }', ...files }))
    await writeFile(join(cwd, name), text);
  return {
    cwd,
    run: (words: string, more: { env?: Record<string, string>; input?: string } = {}) =>
      runHere(words.split(" "), { cwd, ...more }),
  };
}

describe("portico.config", () => {
  let place: Place;
  beforeAll(async () => {
    place = await migratedPlace("PostgreSQL");
    const User = userModel(place.open({ poolSize: 2 }));
    await User.objects.createUser({ email: "ann@x.example", username: "ann", password: PASSWORD });
  });
  afterAll(() => place?.remove());

  it("uses the stores of the application, and refuses options that name others", async () => {
    const prefix = `cli-${randomUUID()}`;
    onTestFinished(() => removeKeys(prefix));
    const { run } = await project({
      "portico.config.ts": `
        import { PorticoApp, type PorticoConfig } from "portico";
        import { redisStores } from "portico/redis";
        import { openDatabase } from "portico/sql";
        const database = openDatabase(${JSON.stringify(place.url)});
        const stores = redisStores("${REDIS_URL}", { prefix: "${prefix}" });
        export default {
          app: () => new PorticoApp({ logger: false, stores }).onClose(() => database.destroy()),
          database,
        } satisfies PorticoConfig;`,
    });

    // REDIS_URL and DATABASE_URL of the shell are not those of the application.
    const env = { REDIS_URL: "redis://127.0.0.1:1", DATABASE_URL: "sqlite::memory:" };
    const { code, out, err } = await run("keys create ann --name backup", { env });

    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining("the only time") });
    const { durable } = redisStores(REDIS_URL, { prefix });
    expect((await new APIKeys({ store: durable }).verify(out.trim()))?.name).toBe("backup");
    await durable.close();
    for (const option of ["--stores database", `--redis ${REDIS_URL}`, "--redis-prefix other"]) {
      const refused = await run(`keys list ann ${option}`);
      expect(refused).toMatchObject({ code: 2, out: "" });
      expect(refused.err).toContain(`${option.split(" ")[0]} could name another store than that of the application`);
    }
    expect(await run("user list --database sqlite::memory:")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--database could name another database than that of the application"),
    });
    expect((await run("migrate status --database sqlite::memory:")).out).toMatch(/^0001_users +pending$/m);
  });

  it("refuses an application whose stores are in the memory of its process", async () => {
    const { run } = await project({
      "portico.config.ts": `
        import { PorticoApp } from "portico";
        export default { app: () => new PorticoApp({ logger: false }), database: ${JSON.stringify(place.url)} };`,
    });

    for (const words of ["keys create ann", "user sessions ann", "user password ann", "user reset-factors ann --yes"]) {
      const { code, out, err } = await run(words, { input: `${PASSWORD}\n` });
      expect({ code, out }).toEqual({ code: 1, out: "" });
      expect(err).toContain("keeps sessions and API keys in the memory of its process, which commands cannot reach");
    }
    // These are in the database.
    expect((await run("user disable ann")).code).toBe(0);
    expect((await run("user enable ann")).code).toBe(0);
    expect((await run("user password ann --keep-keys", { input: `${PASSWORD}\n` })).code).toBe(0);
  });

  it("manages the users of the configuration, with their options and their database", async () => {
    await userModel(place.open({ poolSize: 2 })).objects.defineRole("reader", ["read:books"]);
    const { run } = await project({
      "portico.config.mjs": `
        import { openDatabase, sqlStores, userModel } from "portico/sql";
        const database = openDatabase(${JSON.stringify(place.url)});
        class User extends userModel(database, { roles: ["reader"], bus: sqlStores(database).bus }) {}
        export default { users: User };`,
    });

    const made = await run("user create --email rea@x.example --username rea --json", { input: `${PASSWORD}\n` });

    expect(JSON.parse(made.out)).toMatchObject({ roles: ["reader"], permissions: ["read:books"] });
    expect((await run("user list --search rea")).out).toContain("rea@x.example");
    expect((await run("migrate status")).out).toMatch(/^0001_users +\d{4}/m);
    expect((await run("user list --database sqlite::memory:")).code).toBe(2);
  });

  it("applies the migrations of the configuration, or those of --migrations", async () => {
    const { run } = await project({
      "migrations.ts": `
        import type { Migration } from "portico/sql";
        export const migrations: readonly Migration[] = [{
          name: "0001_books",
          async up(database) { await database.schema.createTable("books").addColumn("id", "text").execute(); },
          async down(database) { await database.schema.dropTable("books").execute(); },
        }];`,
      "portico.config.ts": `
        import { migrations } from "./migrations.ts";
        export default { database: \`sqlite:\${import.meta.dirname}/shop.db\`, migrations, userTables: false };`,
      "other.config.ts": 'export default { database: "sqlite:" + import.meta.dirname + "/other.db" };',
      "wrong.ts": "export const somethingElse = 1;",
    });

    expect(await run("migrate up")).toEqual({
      code: 0,
      out: "applied 0003_stores\napplied 0004_outbox\napplied 0001_books\n",
      err: "",
    });
    expect((await run("migrate up --config other.config.ts --migrations migrations.ts")).out).toMatch(
      /^applied 0001_users\n.*applied 0001_books\n$/s,
    );
    expect(await run("migrate up --migrations wrong.ts")).toMatchObject({
      code: 1,
      err: 'portico: wrong.ts must export a list of migrations, as "migrations" or as the default export\n',
    });
  });

  it("defines the roles of the configuration after the migrations, and changes those that differ", async () => {
    const { run, cwd } = await project({
      "portico.config.ts": `
        const database = "sqlite:" + import.meta.dirname + "/shop.db";
        export default { database, roles: { reader: ["read:books"], staff: ["b", "a", "a"] } };`,
      "next.config.ts": `
        const database = "sqlite:" + import.meta.dirname + "/shop.db";
        export default { database, roles: { reader: ["read:books"], staff: ["a"] } };`,
    });

    expect((await run("migrate up")).out).toMatch(
      /applied 0004_outbox\ndefined the role reader\ndefined the role staff\n$/,
    );
    expect((await run("migrate up")).out).toBe("nothing to do\n");
    expect(JSON.parse((await run("migrate up --config next.config.ts --json")).out)).toEqual({
      applied: [],
      roles: ["staff"],
    });
    expect((await run("role list")).out).toMatch(/^staff +0 +a$/m);
    expect((await run(`migrate up --database sqlite:${join(cwd, "other.db")}`)).out).toContain(
      "defined the role staff",
    );
    expect((await run(`migrate up --without-users --database sqlite:${join(cwd, "bare.db")}`)).out).toBe(
      "applied 0003_stores\napplied 0004_outbox\n",
    );
  });

  it.each([
    [
      "throw new Error('no secret set');",
      /^portico: portico\.config\.ts could not be loaded: no secret set \(.*portico\.config\.ts:1\)\n$/,
    ],
    [
      "import 'not-installed'; export default {};",
      /the package "not-installed" is required\. Run: npm install not-installed/,
    ],
    ["export const app = 1;", /portico\.config\.ts has no default export/],
    ["export default { ap: () => {} };", /portico\.config: unknown option "ap". Did you mean "app"\?/],
    [
      "export default { database: 5 };",
      /portico\.config\.database must be a URL, or a database from openDatabase\(\), received 5/,
    ],
    ["export default { app: 'redis://:hunter2@x' };", /portico\.config\.app must be a function, received a string/],
    [
      "export default { app: () => { throw new Error('broken'); }, database: 'sqlite::memory:' };",
      /^portico: the application could not be built: broken \(.*portico\.config\.ts:1\)\n$/,
    ],
    [
      "import { PorticoApp } from 'portico';\nexport default { app: () => new PorticoApp({ tilte: 'x' }), database: 'sqlite::memory:' };",
      /could not be built: PorticoApp: unknown option "tilte". Did you mean "title"\? \(.*portico\.config\.ts:2\)\nSee https:\S+\/reference\/app\.md#porticoappoptions\n$/,
    ],
    [
      "export default { app: () => ({}), database: 'sqlite::memory:' };",
      /must return a PorticoApp of the same installation/,
    ],
  ])("explains a wrong configuration: %s", async (text, sentence) => {
    const { run } = await project({ "portico.config.ts": text });

    const { code, out, err } = await run("keys list ann");

    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(sentence);
    expect(err).not.toContain("    at ");
    expect(err).not.toContain("hunter2");
    expect(
      err
        .replace(/\nSee https:\S+\n$/, "")
        .trimEnd()
        .split("\n"),
    ).toHaveLength(1);
  });

  it("reads .env, and keeps variables that are already set", async () => {
    const { cwd } = await project({
      ".env": "FIRST=from the file\nSECOND=from the file\n",
      "portico.config.ts": "throw new Error(`${process.env.FIRST}, ${process.env.SECOND}`);",
    });

    const { err } = await runPortico(["routes"], { cwd, env: { SECOND: "from the shell" } });

    expect(err).toContain("could not be loaded: from the file, from the shell");
  });

  it("names the line of a syntax error, without a stack", async () => {
    const { cwd } = await project({ "portico.config.ts": "export const one = 1;\nexport default {" });

    const { code, err } = await runPortico(["migrate", "up"], { cwd });

    expect(code).toBe(1);
    expect(err).toMatch(/^portico: portico\.config\.ts could not be loaded: [^(]+\([^(]+portico\.config\.ts:2\)\n$/);
  });

  it("refuses users that it cannot manage", async () => {
    const { run } = await project({ "portico.config.ts": "export default { users: { loadUser: async () => null } };" });

    expect(await run("user list")).toMatchObject({
      code: 1,
      err: "portico: the users in portico.config do not come from userModel(), so commands cannot manage them\n",
    });
  });

  it("closes what the application has opened, even if closing fails", async () => {
    const { cwd } = await project({
      "portico.config.ts": `
        import { PorticoApp } from "portico";
        import { openDatabase, sqlStores } from "portico/sql";
        const database = openDatabase(${JSON.stringify(place.url)});
        // Neither a timer nor a failing hook keeps the command from ending.
        setInterval(() => {}, 1_000);
        export default {
          app: () => new PorticoApp({ logger: false, stores: sqlStores(database) })
            .onClose(() => database.destroy())
            .onClose(() => { throw new Error("cannot close"); }),
          database,
        };`,
    });

    expect(await runPortico(["keys", "list", "ann"], { cwd })).toEqual({ code: 0, out: "no keys\n", err: "" });
  });
});
