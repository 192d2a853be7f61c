import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Running, startVersion, type Version } from "../../test/start-version.ts";
import { signedIn, visitor } from "../../test/visitor.ts";

const folder = mkdtempSync(join(tmpdir(), "tracker-"));
const running = {} as Record<Version, Running>;
beforeAll(async () => {
  const database = join(folder, "tracker.db");
  running.before = await startVersion("before", database);
  running.after = await startVersion("after", database);
});
afterAll(async () => {
  await Promise.all(Object.values(running).map((version) => version.close()));
  rmSync(folder, { recursive: true });
});

describe.each([
  ["before", "after"],
  ["after", "before"],
] as const)("side by side, from %s to %s", (one, other) => {
  it("accepts the tokens of the other version", async () => {
    const { token } = await signedIn(running[one].url, "ann");

    const { status, body } = await visitor(running[other].url, token).request("GET", "/auth/me");

    expect([status, body.name]).toEqual([200, "Ann"]);
  });

  it("returns the projects and tasks that the other version created", async () => {
    const ann = await signedIn(running[one].url, "ann");
    const { body: project } = await ann.request("POST", "/projects", { name: `Created ${one}` });
    const input = { projectId: project.id as number, title: "Shared" };
    await ann.graphql("mutation ($input: CreateTaskInput!) { createTask(input: $input) { id } }", { input });

    const elsewhere = await signedIn(running[other].url, "ann");

    expect((await elsewhere.request("GET", `/projects/${project.id}`)).body).toEqual(project);
    const { body: pageOfOne } = await ann.request("GET", "/projects?limit=100");
    const { body: pageOfOther } = await elsewhere.request("GET", "/projects?limit=100");
    expect(pageOfOther).toEqual(pageOfOne);
  });
});
