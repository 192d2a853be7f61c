import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type KyselyPlugin, sql } from "kysely";
import * as portico from "portico";
import { isEqual, isInRange, PorticoApp, rule, some } from "portico";
import * as auth from "portico/auth";
import { authentication } from "portico/auth";
import * as drizzle from "portico/drizzle";
import * as graphql from "portico/graphql";
import { connection, field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import * as nats from "portico/nats";
import * as pagination from "portico/pagination";
import { CursorPagination, PageNumberPagination } from "portico/pagination";
import * as redis from "portico/redis";
import * as sqlDoor from "portico/sql";
import { openDatabase, type PorticoTables, tableHandler } from "portico/sql";
import * as testing from "portico/testing";
import { testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { read, root } from "../../scripts/package/repository.ts";
import { accountHarness, ann, password, secret } from "../auth/accounts/account-harness.ts";
import { memoryUsers } from "../auth/accounts/memory-users.ts";
import { newPlace } from "../sql/accounts/databases.ts";
import { citedLacks, outdatedPlaces } from "./lacks.ts";

const names = [portico, auth, drizzle, graphql, nats, pagination, redis, sqlDoor, testing].flatMap(Object.keys);
const exportsA = (pattern: RegExp): boolean => names.some((name) => pattern.test(name));
const hasOption = (door: string, pattern: RegExp): boolean => pattern.test(read(`api/${door}.md`));

const [connectionResolvers = ""] =
  /^export interface ConnectionResolverOptions<.*?^}/ms.exec(read("api/portico-graphql.md")) ?? [];

/** Features that would come with a name: an export, an option or a command. */
const named: Readonly<Record<string, () => boolean>> = {
  saml: () => exportsA(/saml/i),
  scim: () => exportsA(/scim/i),
  organisations: () => exportsA(/organi[sz]ation|membership|invitation/i),
  "admin-pages": () => exportsA(/admin/i),
  orm: () => exportsA(/^(?:entity|hasMany|belongsTo|relation)/i),
  jobs: () => exportsA(/queue|worker|^jobs?$/i),
  "api-from-tables": () => exportsA(/(?:schema|graph)From(?:Database|Tables)|introspectTables/i),
  "response-cache": () => exportsA(/responseCache|cacheControl/i),
  "federation-gateway": () => exportsA(/gateway|supergraph/i),
  edge: () => "fetch" in PorticoApp.prototype || exportsA(/edge|lambda/i),
  "sdl-types": () => /^## `portico (?:codegen|resolvers)/m.test(read("docs/reference/cli.md")),
  "other-handlers": () => exportsA(/^(?!table|drizzle|Async|Sync)\w+Handler$/i),
  "sdl-lists": () => exportsA(/^(?:list|rows|scoped)Resolver$/),
  scheduler: () => exportsA(/schedule|cron/i),
  "account-deletion": () => /\b(?:delete|remove|erase)(?:User|Account)?\(user\b/.test(read("api/portico-sql.md")),
  "shared-cookies": () => hasOption("portico-auth", /\b(?:cookieName|cookieDomain|sameSite)\b/i),
  "test-factors": () => exportsA(/authenticator/i) || hasOption("portico-testing", /\blevel\?:/),
  "exposed-headers": () => hasOption("portico", /\bexpose(?:d)?Headers\b/i),
  "cost-extension": () => hasOption("portico-graphql", /\b(?:hideCost|showCost|costExtension|reportCost)\b/i),
  "cluster-addresses": () => hasOption("portico-redis", /\b(?:natMap|addressMap|nodeAddressMap)\b/i),
  "replica-callers": () => hasOption("portico-sql", /\breplica(?:Caller|Key)\b/i),
  "replica-readers": () => hasOption("portico-sql", /\b(?:aurora|stickyReplica)\b/i),
};

describe("a page that says that something is missing", () => {
  const cited = citedLacks();

  it("finds the options that it looks at", () => {
    expect(connectionResolvers).toContain("cursorScope");
  });

  it("gives each limitation and each `no` of the comparison an id", () => {
    const limitations = read("docs/known-limitations.md")
      .split(/^(?=- |## )/m)
      .slice(1);
    const entries = limitations.filter((text) => text.startsWith("- "));
    const cells = read("docs/comparison.md")
      .split("\n")
      .filter((line) => /^\| [^|]+ \| no\b/.test(line));

    expect(entries.length).toBeGreaterThan(15);
    expect(cells.length).toBeGreaterThan(10);
    expect([...entries, ...cells].filter((text) => !text.includes("<!-- lack: "))).toEqual([]);
  });

  it("has a test for each id", () => {
    const tests = globSync("test/**/*.test.ts", { cwd: root }).map((file) => readFileSync(join(root, file), "utf8"));
    const proved = tests.flatMap((text) =>
      [...text.matchAll(/outdatedPlaces\(\s*"([\w-]+)"/g)].map(([, id = ""]) => id),
    );

    expect([...new Set([...proved, ...Object.keys(named)])].toSorted()).toEqual([...cited.keys()].toSorted());
  });

  it("is listed by the failure once the feature exists", () => {
    expect(outdatedPlaces("saml", true)).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^docs\/comparison\.md:\d+ says that Portico lacks saml$/),
        expect.stringMatching(/^docs\/known-limitations\.md:\d+ says that Portico lacks saml$/),
      ]),
    );
  });
});

describe("Portico still lacks", () => {
  it.each(Object.entries(named))("%s", (id, exists) => {
    expect(outdatedPlaces(id, exists())).toEqual([]);
  });

  it("@defer", async () => {
    const built = schema({ query: { hello: field(t.string)(() => "world") } });

    const { data } = await ask(built, "{ ... @defer { hello } }");

    expect(outdatedPlaces("defer", data !== undefined)).toEqual([]);
  });

  it("an authorization server", async () => {
    const app = new PorticoApp({ logger: false });
    app.use(authentication({ userModel: memoryUsers(), secret, audience: "lacks" }));
    const client = testClient(app);
    const answers = await Promise.all(
      ["oauth-authorization-server", "openid-configuration"].map((name) => client.get(`/.well-known/${name}`)),
    );

    expect(
      outdatedPlaces(
        "token-issuing",
        answers.some(({ status }) => status !== 404),
      ),
    ).toEqual([]);
  });

  it("users in MySQL", () => {
    let opened = true;
    try {
      openDatabase("mysql://root@127.0.0.1:3306/test");
    } catch {
      opened = false;
    }

    expect(outdatedPlaces("mysql-accounts", opened)).toEqual([]);
  });

  it("a login for the owner of an account that others attack from many addresses", async () => {
    const { post } = accountHarness();
    await post("/register", ann);
    for (let n = 0; n < 50; n++)
      await post("/login", { identifier: "ann", password: "wrong password" }, `198.51.100.${n}`);

    const { status } = await post("/login", { identifier: "ann", password }, "203.0.113.1");

    expect(outdatedPlaces("sign-in-lock", status === 200)).toEqual([]);
  });

  it("a total that says whether it is capped", async () => {
    const totals = { capped: 3 };
    const strategy = new PageNumberPagination({ defaultPageSize: 2, totals });
    const app = new PorticoApp({ logger: false });
    app.get("/few", ({ response }) => response.paginate([1, 2], { strategy }));
    app.get("/many", ({ response }) => response.paginate([1, 2, 3, 4, 5], { strategy }));
    const fieldsOf = async (path: string): Promise<string> => {
      const page = (await testClient(app).get(path)).json() as { readonly pagination: object };
      return Object.keys(page.pagination).join();
    };

    expect(outdatedPlaces("capped-total", (await fieldsOf("/few")) !== (await fieldsOf("/many")))).toEqual([]);
  });

  it("rules for values that were computed from objects", async () => {
    interface Note {
      readonly id: string;
    }
    const hidden = rule<Note>({ name: "hidden", allows: () => false, where: () => isEqual("id", "") });
    const Note: ObjectType<Note> = object("Note", { id: t.id }, { auth: hidden });
    const notes = [{ id: "1" }];
    const built = schema({
      query: {
        notes: connection(Note, new CursorPagination())(() => notes),
        newest: field(t.string)(() => notes[0]?.id ?? ""),
      },
    });

    const { data } = await ask(built, "{ newest }");

    expect(outdatedPlaces("computed-values", data?.["newest"] !== "1")).toEqual([]);
  });

  it("ranges and searches of text", () => {
    let accepted = true;
    try {
      isInRange("title", { gte: "a" as never });
    } catch {
      accepted = false;
    }

    expect(outdatedPlaces("text-conditions", accepted || exportsA(/^(?:contains|matches|search)/i))).toEqual([]);
  });

  describe("on PostgreSQL", () => {
    interface Tables extends PorticoTables {
      notes: { id: number; owner: string; reader: string };
    }
    const opened = async () => {
      const place = await newPlace("PostgreSQL");
      onTestFinished(() => place.remove());
      return place.open<Tables>({ poolSize: 2 });
    };

    it("char(n) values without padding", async () => {
      const database = await opened();
      await sql`create table notes as select 1 as id, 'ann'::char(10) as owner`.execute(database);

      const [note] = await tableHandler(database.selectFrom("notes").selectAll())
        .scopedTo(isEqual("owner", "ann"))
        .getItems(0, 1);

      expect(outdatedPlaces("padded-text", note?.owner === "ann")).toEqual([]);
    });

    it("an index for each of several alternatives", async () => {
      const database = await opened();
      await sql`create table notes as select 1 as id, 'ann'::text as owner, 'bob'::text as reader`.execute(database);
      const statements: string[] = [];
      const noting: KyselyPlugin = {
        transformQuery({ node, queryId }) {
          statements.push(database.getExecutor().compileQuery(node, queryId).sql);
          return node;
        },
        transformResult: async ({ result }) => result,
      };
      await tableHandler(database.withPlugin(noting).selectFrom("notes").selectAll())
        .scopedTo(some(isEqual("owner", "ann"), isEqual("reader", "ann")))
        .getItems(0, 1);

      expect(statements.length).toBeGreaterThan(0);
      expect(outdatedPlaces("alternative-indexes", !statements.some((text) => text.includes(" or ")))).toEqual([]);
    });
  });
});

async function ask(
  built: ReturnType<typeof schema>,
  query: string,
): Promise<{ readonly data?: Readonly<Record<string, unknown>> }> {
  const app = new PorticoApp({ logger: false, cursorKeys: [secret] });
  new Graph(built).mount(app);
  const response = await testClient(app).post("/graphql", { body: { query } });
  return response.json() as { readonly data?: Readonly<Record<string, unknown>> };
}
