import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PASSWORD } from "../data/create-database.ts";
import { lists, nested, STATEMENTS } from "./documents.ts";
import { type Running, startVersion, type Version } from "./start-version.ts";
import { signedIn, type Visitor, visitor } from "./visitor.ts";

// One file for both versions: npm run test:nest runs it for the old one.
const version = (process.env["TRACKER_VERSION"] ?? "after") as Version;

/** The status of a request that a schema rejects is the one status that the versions don't share. */
const INVALID = { before: 400, after: 422 }[version];

let running: Running;
let ann: Visitor;
let bob: Visitor;
let cleo: Visitor;
let admin: Visitor;
let anonymous: Visitor;
beforeAll(async () => {
  running = await startVersion(version);
  const { url } = running;
  [ann, bob, cleo, admin] = await Promise.all([
    signedIn(url, "ann"),
    signedIn(url, "bob"),
    signedIn(url, "cleo"),
    signedIn(url, "admin"),
  ]);
  anonymous = visitor(url);
});
afterAll(() => running.close());

const project1 = {
  id: 1,
  name: "Project 1",
  description: "The goal of project 1",
  ownerId: 2,
  createdAt: "2026-01-01T00:00:00.000Z",
};

describe(`sign-in, ${version}`, () => {
  it("returns a token for an email address and a password, and nothing else", async () => {
    const login = { email: "ann@tracker.example", password: PASSWORD };

    const { status, body } = await anonymous.request("POST", "/auth/login", login);

    expect([status, Object.keys(body)]).toEqual([200, ["access_token"]]);
  });

  it.each([
    ["a wrong password", { email: "ann@tracker.example", password: "wrong" }, 401],
    ["an unknown address", { email: "eve@tracker.example", password: PASSWORD }, 401],
    ["no address", { email: "ann", password: PASSWORD }, INVALID],
    ["a property that is not expected", { email: "ann@tracker.example", password: PASSWORD, role: "ADMIN" }, INVALID],
  ])("rejects %s", async (_case, login, expected) => {
    expect((await anonymous.request("POST", "/auth/login", login)).status).toBe(expected);
  });

  it("returns the signed-in user without the password hash", async () => {
    const { status, body } = await ann.request("GET", "/auth/me");

    expect([status, body]).toEqual([200, { id: 2, email: "ann@tracker.example", name: "Ann", role: "MEMBER" }]);
  });

  it.each([
    ["no token", undefined],
    ["an invalid token", "e30.e30.e30"],
  ])("rejects %s on every route", async (_case, token) => {
    const { request, graphql } = visitor(running.url, token);

    for (const [method, path] of [
      ["GET", "/auth/me"],
      ["GET", "/projects"],
      ["GET", "/projects/1"],
      ["DELETE", "/projects/1"],
    ] as const)
      expect((await request(method, path)).status).toBe(401);
    const reply = await graphql("{ me { id } }");
    expect([reply.status, reply.codes]).toEqual([200, ["UNAUTHENTICATED"]]);
    expect(reply.data?.me ?? null).toBeNull();
  });
});

describe(`the routes of projects, ${version}`, () => {
  it("return pages by offset that contain the projects of the user", async () => {
    const first = await ann.request("GET", "/projects?limit=10");
    const second = await ann.request("GET", "/projects?limit=10&offset=10");

    expect([first.status, second.status]).toEqual([200, 200]);
    expect([first.body.total, first.body.limit, first.body.offset]).toEqual([15, 10, 0]);
    expect([second.body.total, second.body.limit, second.body.offset]).toEqual([15, 10, 10]);
    const items = [...first.body.items, ...second.body.items] as readonly { readonly id: number }[];
    expect(items.map(({ id }) => id)).toEqual([29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1]);
    expect(items.at(-1)).toEqual(project1);
    expect((await admin.request("GET", "/projects")).body.total).toBe(30);
  });

  it.each(["limit=101", "limit=x", "offset=-1"])("reject ?%s", async (query) => {
    expect((await ann.request("GET", `/projects?${query}`)).status).toBe(400);
  });

  it("return a project to its members and to admins, and 404 to everyone else", async () => {
    expect(await ann.request("GET", "/projects/1")).toMatchObject({ status: 200, body: project1 });
    expect(await admin.request("GET", "/projects/1")).toMatchObject({ status: 200, body: project1 });
    expect((await bob.request("GET", "/projects/1")).status).toBe(404);
    expect((await ann.request("GET", "/projects/4711")).status).toBe(404);
    expect((await ann.request("GET", "/projects/one")).status).toBe(INVALID);
  });

  it("create a project whose owner is a member, let the owner and admins change it, and admins delete it", async () => {
    const created = await cleo.request("POST", "/projects", { name: "Migration" });
    const { id, createdAt } = created.body as { readonly id: number; readonly createdAt: string };

    expect(created.status).toBe(201);
    expect(created.body).toEqual({ id, name: "Migration", description: null, ownerId: 4, createdAt });
    expect((await cleo.request("GET", `/projects/${id}`)).body).toEqual(created.body);

    const changed = await cleo.request("PATCH", `/projects/${id}`, { description: "From one to the other" });
    expect([changed.status, changed.body]).toEqual([200, { ...created.body, description: "From one to the other" }]);
    expect((await admin.request("PATCH", `/projects/${id}`, { name: "Moved" })).body.name).toBe("Moved");
    expect((await bob.request("PATCH", `/projects/${id}`, { name: "Mine" })).status).toBe(404);

    expect((await cleo.request("DELETE", `/projects/${id}`)).status).toBe(403);
    expect(await admin.request("DELETE", `/projects/${id}`)).toMatchObject({ status: 204, body: undefined });
    expect((await admin.request("DELETE", `/projects/${id}`)).status).toBe(404);
  });

  it("let a member who is not the owner read, but not change", async () => {
    expect((await cleo.request("GET", "/projects/3")).status).toBe(200);
    expect((await cleo.request("PATCH", "/projects/3", { name: "Mine" })).status).toBe(403);
  });

  it.each([{}, { name: "" }, { name: "x".repeat(81) }, { name: "A", description: 7 }, { name: "A", ownerId: 1 }])(
    "reject the new project %j",
    async (project) => {
      expect((await ann.request("POST", "/projects", project)).status).toBe(INVALID);
    },
  );

  it("send the time they took", async () => {
    const timing = /^app;dur=\d+\.\d$/;
    expect((await ann.request("GET", "/projects/1")).headers.get("server-timing")).toMatch(timing);
    expect((await ann.graphql("{ me { id } }")).headers.get("server-timing")).toMatch(timing);
  });
});

describe(`the GraphQL API, ${version}`, () => {
  it("returns the user, a project with its owner, and a task with its project and its assignee", async () => {
    const { status, data } = await ann.graphql(`{
      me { id name email role }
      project(id: 1) { id name description createdAt owner { name } }
      task(id: 1) { id title status createdAt assignee { name } project { name owner { name } } }
    }`);

    expect(status).toBe(200);
    const { id, name, description, createdAt } = project1;
    expect(data).toEqual({
      me: { id: 2, name: "Ann", email: "ann@tracker.example", role: "MEMBER" },
      project: { id, name, description, createdAt, owner: { name: "Ann" } },
      task: {
        id: 1,
        title: "Task 1 of project 1",
        status: "OPEN",
        createdAt: "2026-01-01T00:00:00.000Z",
        assignee: { name: "Ann" },
        project: { name: "Project 1", owner: { name: "Ann" } },
      },
    });
  });

  it.each(["project(id: 1) { name }", "task(id: 1) { title }", "project(id: 4711) { name }"])(
    "returns nothing for %s of other users",
    async (field) => {
      const { status, data } = await bob.graphql(`{ ${field} }`);

      expect(status).toBe(200);
      expect(Object.values(data ?? {})).toEqual(data === null ? [] : [null]);
    },
  );

  it("creates a task and changes its status", async () => {
    const create = `mutation ($input: CreateTaskInput!) {
      createTask(input: $input) { id title status assignee { name } project { id } }
    }`;
    const input = { projectId: 1, title: "Write the guide", assigneeId: 3 };

    const created = (await ann.graphql(create, { input })).data.createTask as { readonly id: number };
    const done = await ann.graphql(`mutation { setTaskStatus(id: ${created.id}, status: DONE) { id status } }`);
    const stolen = await bob.graphql(`mutation { setTaskStatus(id: ${created.id}, status: OPEN) { id } }`);

    const { id } = created;
    const assignee = { name: "Bob" };
    expect(created).toEqual({ id, title: "Write the guide", status: "OPEN", assignee, project: { id: 1 } });
    expect(done.data).toEqual({ setTaskStatus: { id, status: "DONE" } });
    expect(stolen.codes).toHaveLength(1);
    expect((await ann.graphql(`{ task(id: ${id}) { status } }`)).data.task.status).toBe("DONE");
  });

  it.each([
    ["in a project of other users", { projectId: 2, title: "Mine" }],
    ["in a project that doesn't exist", { projectId: 4711, title: "Mine" }],
    ["for a user who doesn't exist", { projectId: 1, title: "Mine", assigneeId: 4711 }],
    ["without a title", { projectId: 1, title: "" }],
    ["with a title that is too long", { projectId: 1, title: "x".repeat(201) }],
  ])("creates no task %s", async (_case, input) => {
    const earlier = await countTasks();

    const { codes } = await ann.graphql("mutation ($input: CreateTaskInput!) { createTask(input: $input) { id } }", {
      input,
    });

    expect(codes).toHaveLength(1);
    expect(await countTasks()).toBe(earlier);
  });

  it.each([
    ["projects", 15],
    ["tasks", 15 * 8],
  ] as const)("pages through all %s of the user, each of them once", async (field, expected) => {
    const ids: number[] = [];
    for await (const { ids: some, total } of pages(field, bob)) {
      ids.push(...some);
      expect(total).toBe(expected);
    }

    expect(ids).toHaveLength(expected);
    expect(new Set(ids).size).toBe(expected);
    const isOfBob = (id: number): boolean => (field === "projects" ? id : Math.ceil(id / 8)) % 2 === 0;
    expect(ids.every(isOfBob)).toBe(true);
  });

  it("reads a nested list with a known number of statements", async () => {
    const rows: unknown[] = [];
    // The first operation may also read the catalogue of the database, which is then cached.
    await admin.graphql(nested[version]);
    const statements = await running.statementsOf(async () => {
      const { projects } = (await admin.graphql(nested[version])).data;
      rows.push(...(projects.items ?? projects.nodes));
    });

    expect(rows).toHaveLength(20);
    expect(statements).toBe(STATEMENTS[version]);
  });
});

/** The number of tasks in the database: admins see all of them. */
async function countTasks(): Promise<number> {
  for await (const { total } of pages("tasks", admin)) return total;
  throw new Error("there is no page");
}

async function* pages(
  field: "projects" | "tasks",
  by: Visitor,
): AsyncGenerator<{ ids: readonly number[]; total: number }> {
  const { text, first, read } = lists[version](field, 7);
  for (let variables: object | null = first; variables !== null; ) {
    const { ids, total, next } = read((await by.graphql(text, variables)).data, variables);
    yield { ids, total };
    variables = next;
  }
}
