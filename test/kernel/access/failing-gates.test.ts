import { every, type Gate, HttpException, PorticoApp, some } from "portico";
import { SimpleUser } from "portico/auth";
import { connection, type FieldPermission, field, Graph, type ObjectType, object, schema, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { logCatcher, testClient } from "portico/testing";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";

const ann = new SimpleUser("ann");
const rows = [{ id: "1" }, { id: "2" }];

const fails = vi.fn<() => boolean>(() => {
  throw new Error("the rules are unavailable");
});
beforeEach(() => {
  fails.mockClear();
});
const failing = (): boolean => fails();
const refuses = (): boolean => false;

describe("a gate that fails, in a combination over a list", () => {
  /** The ids on a page of a route and of a connection, or the errors. */
  async function listed(gate: Gate): Promise<readonly unknown[]> {
    const app = new PorticoApp({ logger: false }).get(
      "/rows",
      { paginated: { strategy: "page_number", item: z.object({ id: z.string() }), rule: gate } } as never,
      ({ response }) => response.paginate(rows, { strategy: "page_number" }),
    );
    const Item: ObjectType<{ readonly id: string }> = object("Item", { id: t.id }, { auth: gate });
    const items = connection(Item, new CursorPagination({ sortField: "id" }))(() => rows);
    new Graph(schema({ query: { items, open: field(t.int)(() => 1) } })).mount(app);
    const client = testClient(app).as(ann);
    const page = await client.get("/rows");
    const { data, errors } = await client.graphql<{ items: { nodes: unknown } | null }>("{ items { nodes { id } } }");
    return [
      page.status === 200 ? (page.json() as { items: unknown }).items : page.status,
      errors === undefined ? data?.items?.nodes : errors[0]?.extensions["code"],
    ];
  }

  it("does not hide the items that another member of some() allows", async () => {
    expect(await listed(some(failing, true))).toEqual([rows, rows]);
    expect(await listed(some(every(true, failing), true))).toEqual([rows, rows]);
  });

  it("is not called after a member that decides alone", async () => {
    expect(await listed(some(true, failing))).toEqual([rows, rows]);
    expect(await listed(every(refuses, failing))).toEqual([[], []]);
    expect(fails).not.toHaveBeenCalled();
  });

  it("is an error, and not an empty list, if no other member decides", async () => {
    expect(await listed(every(true, failing))).toEqual([403, "FORBIDDEN"]);
    expect(await listed(every(failing, refuses))).toEqual([403, "FORBIDDEN"]);
    expect(await listed(some(failing, refuses))).toEqual([403, "FORBIDDEN"]);
  });
});

describe("a gate of the application's own that throws an unexpected error", () => {
  const own: Gate<false> = {
    required: false,
    scopes: [],
    check() {
      throw new Error("the rules are unavailable");
    },
  };

  it("denies access on a route as in every other place, and the log has the error", async () => {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log })
      .get("/own", { auth: own }, () => "in")
      .get("/every", { auth: every(own) }, () => "in");
    const client = testClient(app);

    for (const path of ["/own", "/every"]) {
      expect((await client.get(path)).status).toBe(401);
      expect((await client.as(ann).get(path)).json()).toMatchObject({ status: 403, code: "forbidden" });
    }
    expect(log.lines.filter(({ msg }) => msg === "a gate failed; no access is granted")).toHaveLength(4);
  });

  it("keeps the status of an HTTP exception", async () => {
    const auth: Gate<false> = {
      ...own,
      check() {
        throw new HttpException(418, "Not for a teapot");
      },
    };
    const client = testClient(new PorticoApp({ logger: false }).get("/own", { auth }, () => "in"));

    expect((await client.as(ann).get("/own")).status).toBe(418);
  });
});

it("a permission class that throws denies access, and the log has its name", async () => {
  class Broken implements FieldPermission {
    hasPermission(): boolean {
      return fails();
    }
  }
  const log = logCatcher();
  const app = new PorticoApp({ logger: log });
  const closed = field(t.nullable(t.string), { permissionClasses: [Broken] })(() => "in");
  new Graph(schema({ query: { closed } })).mount(app);

  const { data, errors } = await testClient(app).as(ann).graphql("{ closed }");

  expect(data).toEqual({ closed: null });
  expect(errors).toMatchObject([{ path: ["closed"], extensions: { code: "FORBIDDEN" } }]);
  expect(log.lines).toContainEqual(
    expect.objectContaining({ msg: "a gate failed; no access is granted", gate: "Broken", err: expect.anything() }),
  );
});
