import { join } from "node:path";
import { pathToFileURL } from "node:url";
import SchemaBuilder from "@pothos/core";
import RelayPlugin from "@pothos/plugin-relay";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type GraphQLSchema, printSchema } from "graphql";
import mercurius from "mercurius";
import { PorticoApp } from "portico";
import { field, Graph, schema, t } from "portico/graphql";
import { type Database, migrate, openDatabase, type PorticoTables, userModel } from "portico/sql";
import { testClient } from "portico/testing";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { read, root } from "../scripts/package/repository.ts";
import { compileSnippets, foreignSnippets, pageSnippets } from "../scripts/snippets/snippets.ts";
import { newPlace, type Place } from "./sql/accounts/databases.ts";

const name = "coming-from";
const pageOf = (stack: string): string => `docs/coming-from/${stack}.md`;
const graphqlStacks = ["nestjs", "fastify-mercurius", "yoga-pothos"];
const stacks = [...graphqlStacks, "express-passport"];
const faults = await compileSnippets(name, stacks.map(pageOf).flatMap(pageSnippets));

const password = "correct horse battery";
const orders = [
  { id: "o1", buyer: "ann", state: "placed" },
  { id: "o2", buyer: "ann", state: "placed" },
  { id: "o3", buyer: "ann", state: "shipped" },
  { id: "o4", buyer: "ben", state: "placed" },
];

interface OrderTables extends PorticoTables {
  orders: { id: string; buyer_id: string; title: string; state: string; reason: string | null };
}
interface Slice {
  readonly app: PorticoApp;
  readonly database: Database<OrderTables>;
}

interface KeepNest {
  readonly dtoSchema: <T extends object>(type: new () => T, tools: object) => StandardSchemaV1<T>;
  readonly keepNestErrors: (app: PorticoApp, type: new () => Error) => void;
}
interface KeepMercurius {
  readonly keepMercuriusErrors: (app: PorticoApp) => void;
}
interface PothosList {
  readonly builder: { toSchema(): GraphQLSchema };
}
interface PothosPage {
  readonly orders: {
    readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: string } }[];
    readonly pageInfo: { readonly hasNextPage: boolean };
  };
}

/** Loads a file that `compileSnippets` has written for a page. */
const load = async <M>(page: string, file: string): Promise<M> =>
  (await import(pathToFileURL(join(root, ".cache/snippets", name, page, file)).href)) as M;

async function openSlice(stack: string, { url }: Place): Promise<Slice> {
  vi.stubEnv("DATABASE_URL", url).stubEnv("SECRET", crypto.randomUUID());
  const slice = await load<Slice>(`docs-coming-from-${stack}`, "app.ts");
  const { database } = slice;
  await migrate(database, "up");
  await database.schema
    .createTable("orders")
    .addColumn("id", "text", (column) => column.primaryKey())
    .addColumn("buyer_id", "text", (column) => column.notNull())
    .addColumn("title", "text", (column) => column.notNull())
    .addColumn("state", "text", (column) => column.notNull())
    .addColumn("reason", "text")
    .execute();
  const User = userModel(database);
  for (const username of ["ann", "ben"]) {
    const user = await User.objects.createUser({ email: `${username}@shop.example`, username, password });
    const own = orders.filter(({ buyer }) => buyer === username);
    const rows = own.map(({ id, state }) => ({
      id,
      state,
      buyer_id: user.identity,
      title: `Book ${id}`,
      reason: null,
    }));
    await database.insertInto("orders").values(rows).execute();
  }
  return slice;
}

async function signedIn(app: PorticoApp, identifier: string) {
  const browser = testClient(app).withCookies();
  expect((await browser.post("/account/login", { body: { identifier, password } })).status).toBe(200);
  return browser;
}

it("all snippets compile", () => {
  expect(faults).toEqual([]);
});

describe("the four pages", () => {
  const first = stacks[0] as string;
  const labelsOf = (stack: string) => {
    const page = read(pageOf(stack)).replaceAll(/^```.*?^```/gms, "");
    const [, changes = ""] = /^## Changes for clients\n(.*?)^## /ms.exec(page) ?? [];
    return {
      headings: [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading),
      steps: [...page.matchAll(/^\d\. \*\*(.+?)\*\*/gm)].map(([, step]) => step),
      changes: [...changes.matchAll(/^\| (?!Subject)(.+?) \|/gm)].map(([, subject]) => subject),
    };
  };

  it.each(stacks.slice(1))("tell the same story in the same order: %s", (stack) => {
    expect(labelsOf(stack)).toEqual(labelsOf(first));
  });

  it("name what breaks clients, and end with a checklist", () => {
    const { headings, steps, changes } = labelsOf(first);

    expect(changes).toEqual(["Errors", "Invalid input", "Limits", "Overload", "CORS", "ETags", "Forms", "Cursors"]);
    expect(steps).toHaveLength(6);
    expect(headings.at(-1)).toBe("Checklist");
  });
});

describe("the code that keeps old behaviour", () => {
  it("sends Nest's exceptions with their body, and validates with a decorated class", async () => {
    const { dtoSchema, keepNestErrors } = await load<KeepNest>("docs-coming-from-nestjs", "keep-nest.ts");
    class Teapot extends Error {
      readonly getStatus = () => 418;
      readonly getResponse = () => ({ statusCode: 418, message: "No coffee" });
    }
    class CreateOrder {
      title = "";
    }
    const tools = {
      plainToInstance: (type: new () => object, value: unknown) => Object.assign(new type(), value),
      validate: async ({ title }: { title?: string }) =>
        title === "" ? [{ property: "title", constraints: { isNotEmpty: "title should not be empty" } }] : [],
    };
    const app = new PorticoApp();
    keepNestErrors(app, Teapot);
    app.get("/", () => {
      throw new Teapot();
    });
    app.post("/", { body: dtoSchema(CreateOrder, tools) }, ({ body }) => ({ isClass: body instanceof CreateOrder }));
    const { get, post } = testClient(app);

    const refused = await get("/");
    expect([refused.status, refused.json()]).toEqual([418, { statusCode: 418, message: "No coffee" }]);
    expect((await post("/", { body: { title: "" } })).json()).toMatchObject({
      errors: [{ in: "body", path: ["title"], message: "title should not be empty" }],
    });
    expect((await post("/", { body: { title: "Emma" } })).json()).toEqual({ isClass: true });
  });

  it("sends the errors of Mercurius with their extensions", async () => {
    const { keepMercuriusErrors } = await load<KeepMercurius>(
      "docs-coming-from-fastify-mercurius",
      "mercurius-errors.ts",
    );
    const app = new PorticoApp();
    keepMercuriusErrors(app);
    const fail = field(t.string)(() => {
      throw new mercurius.ErrorWithProps("Sold out", { code: "SOLD_OUT", left: 0 });
    });
    new Graph(schema({ query: { fail } })).mount(app);

    expect((await testClient(app).graphql("{ fail }")).errors).toMatchObject([
      { message: "Sold out", extensions: { code: "SOLD_OUT", left: 0 } },
    ]);
  });

  it("pages a list of Pothos with the types of its plugin", async () => {
    const { builder } = await load<PothosList>("docs-coming-from-yoga-pothos", "pothos-list.ts");
    const db = openDatabase<{ orders: { id: string; title: string } }>("sqlite::memory:");
    await db.schema.createTable("orders").addColumn("id", "text").addColumn("title", "text").execute();
    await db
      .insertInto("orders")
      .values(orders.map(({ id }) => ({ id, title: `Book ${id}` })))
      .execute();
    const app = new PorticoApp();
    const pothos = builder.toSchema();
    const plugin = new SchemaBuilder({ plugins: [RelayPlugin] });
    const Order = plugin.objectRef<{ id: string; title: string }>("Order").implement({
      fields: (t) => ({ id: t.exposeID("id"), title: t.exposeString("title") }),
    });
    plugin.queryType({
      fields: (t) => ({ orders: t.connection({ type: Order, nullable: true, resolve: () => null }) }),
    });
    new Graph(pothos, { context: () => ({ db }) }).mount(app);
    const query =
      "query ($after: String) { orders(first: 3, after: $after) { edges { cursor node { id } } pageInfo { hasNextPage } } }";
    const { graphql } = testClient(app);

    const first = (await graphql<PothosPage>(query)).data?.orders;
    const rest = (await graphql<PothosPage>(query, { after: first?.edges.at(-1)?.cursor })).data?.orders;
    await db.destroy();

    expect(printSchema(pothos)).toBe(printSchema(plugin.toSchema()));
    expect([first, rest].map((page) => page?.edges.map(({ node }) => node.id))).toEqual([["o4", "o3", "o2"], ["o1"]]);
    expect([first, rest].map((page) => page?.pageInfo.hasNextPage)).toEqual([true, false]);
  });
});

describe.each(stacks)("the slice of %s", (stack) => {
  const linesOf = (code: string): number => code.split("\n").filter((line) => !/^\s*(?:\/\/.*)?$/.test(line)).length;

  it("has as many lines as the page says", () => {
    const [foreign, own] = [foreignSnippets(pageOf(stack))[0], pageSnippets(pageOf(stack))[0]];

    expect(read(pageOf(stack))).toContain(
      `${linesOf(foreign?.code ?? "")} lines of code, the Portico version ${linesOf(own?.code ?? "")}`,
    );
  });
});

describe.each(graphqlStacks)("the Portico version of the %s slice", (stack) => {
  let place: Place;
  let slice: Slice;
  beforeAll(async () => {
    place = await newPlace("PostgreSQL");
    slice = await openSlice(stack, place);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await slice.app.close();
    await slice.database.destroy();
    await place.remove();
  });

  interface Page {
    readonly orders: { readonly nodes: object[]; readonly pageInfo: { hasNextPage: boolean; endCursor: string } };
  }
  const page =
    "query ($after: String) { orders(first: 2, after: $after) { nodes { id } pageInfo { hasNextPage endCursor } } }";
  const cancel = "mutation ($id: ID!, $reason: Reason!) { cancelOrder(id: $id, reason: $reason) { state } }";
  const codesOf = ({ errors = [] }: { readonly errors?: readonly { extensions?: Record<string, unknown> }[] }) =>
    errors.map(({ extensions }) => extensions?.["code"]);

  it("rejects a wrong password and an anonymous caller", async () => {
    const { graphql, post } = testClient(slice.app);

    expect((await post("/account/login", { body: { identifier: "ann", password: "wrong horse" } })).status).toBe(401);
    expect(codesOf(await graphql(page))).toEqual(["UNAUTHENTICATED"]);
  });

  it("pages through the caller's own orders", async () => {
    const ann = await signedIn(slice.app, "ann");
    const first = (await ann.graphql<Page>(page)).data?.orders;
    const second = (await ann.graphql<Page>(page, { after: first?.pageInfo.endCursor })).data?.orders;
    const ben = await signedIn(slice.app, "ben");

    expect(first).toMatchObject({ nodes: [{ id: "o3" }, { id: "o2" }], pageInfo: { hasNextPage: true } });
    expect(second).toMatchObject({ nodes: [{ id: "o1" }], pageInfo: { hasNextPage: false } });
    expect((await ben.graphql<Page>(page)).data?.orders.nodes).toEqual([{ id: "o4" }]);
  });

  it("cancels an order of the caller that is still open, with a valid reason", async () => {
    const { graphql } = await signedIn(slice.app, "ann");

    expect(codesOf(await graphql(cancel, { id: "o1", reason: "" }))).toEqual(["BAD_USER_INPUT"]);
    expect(codesOf(await graphql(cancel, { id: "o3", reason: "late" }))).toEqual(["ORDER_CLOSED"]);
    expect(codesOf(await graphql(cancel, { id: "o4", reason: "late" }))).toEqual(["NOT_FOUND"]);
    expect((await graphql(cancel, { id: "o1", reason: "late" })).data).toEqual({ cancelOrder: { state: "cancelled" } });
    const rows = await slice.database.selectFrom("orders").select(["id", "reason"]).orderBy("id").execute();
    expect(rows.map(({ id, reason }) => `${id} ${reason}`)).toEqual(["o1 late", "o2 null", "o3 null", "o4 null"]);
  });
});

describe("the Portico version of the express-passport slice", () => {
  let place: Place;
  let slice: Slice;
  beforeAll(async () => {
    place = await newPlace("PostgreSQL");
    slice = await openSlice("express-passport", place);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await slice.app.close();
    await slice.database.destroy();
    await place.remove();
  });

  interface Page {
    readonly items: readonly object[];
    readonly pagination: { readonly next_cursor: string | null };
  }

  it("pages through the caller's own orders, and rejects anonymous callers", async () => {
    const ann = await signedIn(slice.app, "ann");
    const first = (await ann.get("/orders", { query: { page_size: "2" } })).json() as Page;
    const cursor = first.pagination.next_cursor ?? "";
    const second = (await ann.get("/orders", { query: { page_size: "2", cursor } })).json() as Page;

    expect((await testClient(slice.app).get("/orders")).status).toBe(401);
    expect(first.items).toEqual([
      { id: "o3", title: "Book o3", state: "shipped" },
      { id: "o2", title: "Book o2", state: "placed" },
    ]);
    expect(second).toMatchObject({ items: [{ id: "o1" }], pagination: { next_cursor: null } });
  });

  it("cancels an order of the caller that is still open, with a valid reason", async () => {
    const ann = await signedIn(slice.app, "ann");
    const cancel = async (id: string, reason: string) => {
      const response = await ann.post(`/orders/${id}/cancel`, { body: { reason } });
      return { status: response.status, ...(response.json() as object) };
    };

    expect(await cancel("o1", "")).toMatchObject({ status: 422, code: "validation_failed" });
    expect(await cancel("o3", "late")).toMatchObject({ status: 409, code: "order_closed" });
    expect(await cancel("o4", "late")).toMatchObject({ status: 404, code: "not_found" });
    expect(await cancel("o1", "late")).toEqual({ status: 200, id: "o1", title: "Book o1", state: "cancelled" });
  });
});
