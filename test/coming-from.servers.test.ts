import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { PorticoApp } from "portico";
import { type Database, migrate, type PorticoTables, userModel } from "portico/sql";
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
