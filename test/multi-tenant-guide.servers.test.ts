import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { PorticoApp, Topic } from "portico";
import { SimpleUser } from "portico/auth";
import type { Database } from "portico/sql";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { root } from "../scripts/package/repository.ts";
import { compileSnippets, pageSnippets } from "../scripts/snippets/snippets.ts";

const page = "docs/guide/multi-tenant.md";
const faults = await compileSnippets("multi-tenant-guide", pageSnippets(page));
const load = async <M>(file: string): Promise<M> =>
  (await import(
    pathToFileURL(join(root, ".cache/snippets/multi-tenant-guide/docs-guide-multi-tenant", file)).href
  )) as M;

it("the guide to multi-tenant applications compiles", () => {
  expect(faults).toEqual([]);
});

describe("the tests of the guide", async () => {
  await load("app.test.ts");
});

describe("the application of the guide", async () => {
  const { app } = await load<{ readonly app: PorticoApp }>("app.ts");
  const as = (name: string) => testClient(app).as(new SimpleUser(name));
  const codes = ({ errors = [] }: { readonly errors?: readonly { extensions?: Record<string, unknown> }[] }) =>
    errors.map(({ extensions }) => extensions?.["code"]);

  /** Until the first connection has started to listen for changed users, and was checked for changes that it missed. */
  const settled = (): Promise<void> => sleep(200);

  it("hides a foreign project as if it did not exist", async () => {
    const paths = ["/projects/p1", "/projects/p2", "/projects/p9"];
    const statuses = async (name: string) => Promise.all(paths.map(async (path) => (await as(name).get(path)).status));

    expect(await statuses("ann")).toEqual([200, 404, 404]);
    expect(await statuses("bob")).toEqual([200, 200, 404]);
    expect((await testClient(app).get("/projects/p1")).status).toBe(401);
    const { data } = await as("ann").graphql(
      '{ mine: project(id: "p1") { comments { nodes { id } } } theirs: project(id: "p2") { id } none: project(id: "p9") { id } }',
    );
    expect(data).toEqual({ mine: { comments: { nodes: [{ id: "c-p1" }] } }, theirs: null, none: null });
    expect(codes(await testClient(app).graphql("{ projects { totalCount } }"))).toEqual(["UNAUTHENTICATED"]);
  });

  it("lets only owners rename a project, and tells foreign callers nothing", async () => {
    const rename = async (name: string) =>
      as(name).graphql('mutation { renameProject(id: "p1", name: "Apollo") { name } }');

    expect(codes(await rename("eve"))).toEqual(["NOT_FOUND"]);
    expect(codes(await rename("bob"))).toEqual(["FORBIDDEN"]);
    expect((await rename("ann")).data).toEqual({ renameProject: { name: "Apollo" } });
  });

  it("drops the events of an organisation that a subscriber has left, before any recheck", async () => {
    const { database } = await load<{ readonly database: Database<any> }>("database.ts");
    const all = database.asSystem("a test");
    const { changedIn } = await load<{ readonly changedIn: (organisation: string) => Topic<string> }>(
      "subscriptions.ts",
    );
    const membership = { user_id: "bob", organisation_id: "acme", role: "member" };
    const events = as("bob").subscribe('subscription { projectChanged(organisation: "acme") { name } }');
    await events.ready();
    await settled();

    await all.deleteFrom("memberships").where("user_id", "=", "bob").where("role", "=", "member").execute();
    await all.updateTable("projects").set({ name: "Mercury" }).where("id", "=", "p1").execute();
    await app.pubsub.publish(changedIn("acme"), "p1");
    await sleep(200);
    await all.insertInto("memberships").values(membership).execute();
    await all.updateTable("projects").set({ name: "Apollo" }).where("id", "=", "p1").execute();
    await app.pubsub.publish(changedIn("acme"), "p1");

    expect((await events.next()).value?.data).toEqual({ projectChanged: { name: "Apollo" } });
    await events.return();
  });

  it("ends the subscription of a member who is removed", async () => {
    const events = as("bob").subscribe('subscription { projectChanged(organisation: "acme") { name } }');
    await events.ready();
    await as("ann").graphql('mutation { renameProject(id: "p3", name: "Gemini") { name } }');
    expect((await events.next()).value?.data).toEqual({ projectChanged: { name: "Gemini" } });
    await settled();

    expect(codes(await as("bob").graphql('mutation { removeMember(organisation: "acme", user: "ann") }'))).toEqual([
      "FORBIDDEN",
    ]);
    await as("ann").graphql('mutation { removeMember(organisation: "acme", user: "bob") }');

    const end = await events.next();
    expect(codes(end.value as never)).toEqual(["FORBIDDEN"]);
    const again = as("bob").subscribe('subscription { projectChanged(organisation: "acme") { name } }');
    expect(codes((await again.next()).value as never)).toEqual(["FORBIDDEN"]);
    const { items } = (await as("bob").get("/projects")).json() as { readonly items: readonly object[] };
    expect(items).toEqual([{ id: "p2", name: "Project p2" }]);
  });
});
