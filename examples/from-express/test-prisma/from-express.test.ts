import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folder, openVersions, SECRET, type Version } from "./open-versions.ts";

let versions: Awaited<ReturnType<typeof openVersions>>;
const tokens: Record<string, string | undefined> = {};
beforeAll(async () => {
  versions = await openVersions();
  for (const name of ["ann", "bob", "eve"]) tokens[name] = await versions.before.token(name);
  tokens["expired"] = await signed(Math.floor(Date.now() / 1000) - 60);
  tokens["forged"] = await signed(Math.floor(Date.now() / 1000) + 60, "another secret, with more than 32 bytes");
});
afterAll(() => versions.close());

function signed(exp: number, secret = SECRET): Promise<string> {
  const jwt = new SignJWT({ sub: "ann", iss: "helpdesk", exp }).setProtectedHeader({ alg: "HS256" });
  return jwt.sign(new TextEncoder().encode(secret));
}

describe("the old routes", () => {
  it.each([
    ["/tickets/1", "ann", 200],
    ["/tickets/4", "ann", 404],
    ["/tickets/4", "bob", 200],
    ["/tickets/4", "eve", 200],
    ["/tickets/9999", "eve", 404],
    ["/tickets/x", "ann", 404],
    ["/tickets/1", "anonymous", 401],
    ["/tickets/1", "expired", 401],
    ["/tickets/1", "forged", 401],
    ["/tickets.csv", "ann", 200],
    ["/tickets.csv", "bob", 200],
    ["/tickets.csv", "eve", 200],
    ["/tickets.csv", "anonymous", 401],
  ])("GET %s as %s has the same response, with %i", async (path, caller, status) => {
    const before = await versions.before.get(path, tokens[caller]);

    expect(before.status).toBe(status);
    expect(await versions.after.get(path, tokens[caller])).toEqual(before);
  });

  it.each([
    ["a wrong password", { email: "ann@example.com", password: "wrong" }, 401],
    ["an unknown address", { email: "dan@example.com", password: "correct horse" }, 401],
    ["no password", { email: "ann@example.com" }, 400],
  ])("POST /login with %s has the same response", async (_name, body, status) => {
    const before = await versions.before.post("/login", body);

    expect(before.status).toBe(status);
    expect(await versions.after.post("/login", body)).toEqual(before);
  });

  it("share their tokens, whichever version has issued them", async () => {
    const { status } = await versions.before.get("/tickets/1", await versions.after.token("ann"));
    const names = await Promise.all([
      versions.after.graphql("{ me { name } }", tokens["ann"]),
      versions.after.graphql("{ me { name } }", tokens["expired"]),
    ]);

    expect(status).toBe(200);
    expect(names.map(({ data }) => data)).toEqual([{ me: { name: "Ann" } }, { me: null }]);
  });
});

describe("the GraphQL documents", () => {
  const DOCUMENTS = [
    "{ me { id name role } }",
    "{ ticket(id: 1) { id title status comments { id body } } }",
    "{ ticket(id: 4) { id title } }",
    "{ ticket(id: 9999) { id } }",
    "{ tickets { nodes { id title status } } }",
    "{ tickets(first: 3) { nodes { id comments { body } } } }",
  ];
  it.each(DOCUMENTS.flatMap((text) => ["ann", "bob", "eve", "anonymous"].map((caller) => [text, caller] as const)))(
    "%s as %s has the same result",
    async (text, caller) => {
      const before = await versions.before.graphql(text, tokens[caller]);

      expect(await versions.after.graphql(text, tokens[caller])).toEqual(before);
    },
  );

  it("create tickets of the caller", async () => {
    const create = 'mutation { createTicket(title: "Printer") { title status } }';
    const created = async (version: Version) => [
      await version.graphql(create, tokens["bob"]),
      await version.graphql(create),
    ];
    const before = await created(versions.before);

    expect(before).toEqual([
      { data: { createTicket: { title: "Printer", status: "open" } }, codes: [] },
      { data: { createTicket: null }, codes: ["UNAUTHENTICATED"] },
    ]);
    expect(await created(versions.after)).toEqual(before);
  });
});

describe("after", () => {
  it("applies the rule to routes, fields, lists and batches", async () => {
    const { after } = versions;
    const visible = async (caller: string) => {
      const token = tokens[caller];
      const ids = Array.from({ length: 8 }, (_, index) => index + 1);
      const routes = await Promise.all(ids.map((id) => after.get(`/tickets/${id}`, token)));
      const operations = ids.map((id) => ({ query: `{ ticket(id: ${id}) { id } }` }));
      const batch = JSON.parse((await after.post("/graphql", operations, token)).body) as { data: any }[];
      const fields = await after.graphql(`{ ${ids.map((id) => `t${id}: ticket(id: ${id}) { id }`).join(" ")} }`, token);
      const csv = (await after.get("/tickets.csv", token)).body.split("\n");
      return {
        routes: ids.filter((_id, index) => routes[index]?.status === 200),
        fields: ids.filter((id) => fields.data[`t${id}`] !== null),
        batch: ids.filter((_id, index) => batch[index]?.data.ticket !== null),
        csv: ids.filter((id) => csv.some((line) => line.startsWith(`${id},`))),
        list: ids.filter((id) => pages.get(caller)?.list.includes(id)),
        page: ids.filter((id) => pages.get(caller)?.page.includes(id)),
      };
    };
    const pages = new Map<string, { list: number[]; page: number[] }>();
    for (const caller of ["ann", "bob", "eve"]) {
      const list = await walked(after, caller);
      const { body } = await after.get("/tickets?page_size=50", tokens[caller]);
      pages.set(caller, { list, page: JSON.parse(body).items.map(({ id }: { id: number }) => id) });
    }
    const everywhere = (ids: number[]) =>
      Object.fromEntries(["routes", "fields", "batch", "csv", "list", "page"].map((place) => [place, ids]));

    expect(await visible("ann")).toEqual(everywhere([1, 2, 3, 5, 6, 7]));
    expect(await visible("bob")).toEqual(everywhere([4, 8]));
    expect(await visible("eve")).toEqual(everywhere([1, 2, 3, 4, 5, 6, 7, 8]));
  });

  it("pages through all tickets of a bulk import, of which before skips some", async () => {
    const imported = Array.from({ length: 40 }, (_, index) => 40 - index);
    const idsOf = async (version: Version) => (await walked(version, "eve")).filter((id) => id <= 40);

    expect(await idsOf(versions.after)).toEqual(imported);
    expect((await idsOf(versions.before)).length).toBeLessThan(40);
  });

  it("accepts a cursor of the field in the route", async () => {
    const { data } = await versions.after.graphql("{ tickets(first: 3) { nextCursor } }", tokens["ann"]);
    const cursor = encodeURIComponent(data.tickets.nextCursor);
    const { body } = await versions.after.get(`/tickets?page_size=2&cursor=${cursor}`, tokens["ann"]);

    expect(JSON.parse(body).items.map(({ id }: { id: number }) => id)).toEqual([35, 34]);
  });

  it("reads the comments of 20 tickets with one statement instead of 20", async () => {
    const count = async (version: Version) => {
      const query = () => version.graphql("{ tickets(first: 20) { nodes { comments { body } } } }", tokens["eve"]);
      await query();
      return version.counter.during(query);
    };

    // Both read the caller and the tickets with one statement each.
    expect(await count(versions.before)).toBe(22);
    expect(await count(versions.after)).toBe(3);
  });

  it("limits failed logins", async () => {
    const wrong = { email: "eve@example.com", password: "wrong" };
    const statuses = async (version: Version) => {
      const replies = [];
      for (let attempt = 0; attempt < 6; attempt++) replies.push((await version.post("/login", wrong)).status);
      return new Set(replies);
    };

    expect(await statuses(versions.before)).toEqual(new Set([401]));
    expect(await statuses(versions.after)).toEqual(new Set([401, 429]));
  });

  it("rejects the same arguments, and the cursors of before", async () => {
    const { data } = await versions.before.graphql("{ tickets(first: 2) { nextCursor } }", tokens["ann"]);
    const errorsOf = async (version: Version) => [
      await version.graphql("{ tickets(first: 51) { nextCursor } }", tokens["ann"]),
      await version.graphql('{ tickets(after: "x") { nextCursor } }', tokens["ann"]),
      await version.graphql(`{ tickets(after: "${data.tickets.nextCursor}") { nextCursor } }`, tokens["ann"]),
    ];
    const codes = async (version: Version) => (await errorsOf(version)).map(({ codes }) => codes.join());

    expect(await codes(versions.before)).toEqual(["BAD_USER_INPUT", "BAD_USER_INPUT", ""]);
    expect(await codes(versions.after)).toEqual(["BAD_USER_INPUT", "BAD_USER_INPUT", "BAD_USER_INPUT"]);
  });

  it("responds in JSON where no route matches", async () => {
    expect(await versions.before.get("/other")).toMatchObject({ status: 404, type: "text/html; charset=utf-8" });
    expect(await versions.after.get("/other")).toMatchObject({ status: 404, body: '{"error":"Not found"}' });
  });
});

/** Pages through the list of a caller, seven tickets at a time, and returns their ids. */
async function walked(version: Version, caller: string): Promise<number[]> {
  const query = "query ($after: String) { tickets(first: 7, after: $after) { nextCursor nodes { id } } }";
  const ids: number[] = [];
  for (let after: string | null = null; ; ) {
    const { data } = await version.graphql(query, tokens[caller], { after });
    ids.push(...data.tickets.nodes.map(({ id }: { id: string }) => Number(id)));
    after = data.tickets.nextCursor;
    if (after === null) return ids;
  }
}

it("has as many lines as the README says", () => {
  const readme = readFileSync(join(folder, "README.md"), "utf8");
  for (const version of ["before", "after"]) {
    const files = readdirSync(join(folder, version)).map((file) => readFileSync(join(folder, version, file), "utf8"));
    const lines = files
      .join("\n")
      .split("\n")
      .filter((line) => line.trim() !== "");
    expect(readme).toContain(`| \`${version}/\` | ${lines.length} |`);
  }
});

// It comes last, because neither version has a database afterwards.
it("treats callers as unknown without a database, where before treats them as anonymous", async () => {
  const { before, after } = versions;
  for (const { counter } of [before, after]) counter.close();
  const status = async (version: Version) => (await version.get("/tickets/1", tokens["ann"])).status;

  expect([await status(before), await status(after)]).toEqual([401, 503]);
});
