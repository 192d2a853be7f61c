import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SimpleUser } from "portico/auth";
import { liveClient, type TestResponse } from "portico/testing";
import { afterAll, describe, expect, it } from "vitest";
import { app, changed } from "../examples/one-rule/app.ts";
import { growthsIn } from "../scripts/docs/grown-file.ts";
import { filesBelow, read, root } from "../scripts/package/repository.ts";
import { runPortico } from "./cli/run-portico.ts";

const EXAMPLE = join(root, "examples/one-rule");
const [ada, bob] = [new SimpleUser("ada"), new SimpleUser("bob")];
const ofAda = { id: "1", owner: "ada", text: "Buy milk" };
const ofBob = { id: "2", owner: "bob", text: "Call Eve" };

const client = await liveClient(app);
afterAll(() => client.close());

/** The sample of the start page, between the markers of its region. */
const sample = /\/\/ #region rule\n([^]*?)\/\/ #endregion/.exec(read("examples/one-rule/app.ts"))?.[1] ?? "";

/** What an owner and another user see, as the start page shows it. */
function shown(request: string, owner: string, other: string): string {
  return `${request}\n\n# ada, who owns it\n${owner}\n\n# bob\n${other}\n`;
}

function line(response: TestResponse): string {
  return `${response.status} ${JSON.stringify(response.json())}`;
}

describe("the start page shows what one rule does", () => {
  it("in at most 14 lines of 84 columns, without imports", () => {
    const lines = sample.trimEnd().split("\n");

    expect(lines.length).toBeLessThanOrEqual(14);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(84);
    expect(read("README.md")).toContain(`\`\`\`ts excerpt\n${sample}\`\`\``);
  });

  it("as the application returns it", async () => {
    const readme = read("README.md");

    for (const name of ["route", "list"])
      expect(readme).toContain(`\`\`\`text\n${read(`docs/one-rule/${name}.txt`)}\`\`\``);
    // Nothing else is left out when the pages are compiled. The test of the quick start compiles its parts together.
    const pages = (await filesBelow("docs", ".md")).filter((file) => read(file).includes("```ts excerpt"));
    expect(pages).toEqual(["docs/guide/quick-start.md"]);
    const [, ...parts] = read("docs/guide/quick-start.md").split("```ts excerpt");
    expect(growthsIn(read("docs/guide/quick-start.md"))).toHaveLength(parts.length);
  });

  it("on a route", async () => {
    const [owner, other] = [await client.as(ada).get("/notes/1"), await client.as(bob).get("/notes/1")];

    expect([owner.status, owner.json(), other.status]).toEqual([200, ofAda, 404]);
    await expect(shown("GET /notes/1", line(owner), line(other))).toMatchFileSnapshot(place("route"));
  });

  it("in a list and its total", async () => {
    const query = "{ notes(first: 10) { totalCount edges { node { text } } } }";
    const asked = async (user: SimpleUser) => JSON.stringify((await client.as(user).graphql(query)).data);

    const [owner, other] = [await asked(ada), await asked(bob)];

    expect(other).toBe('{"notes":{"totalCount":1,"edges":[{"node":{"text":"Call Eve"}}]}}');
    await expect(shown(query, owner, other)).toMatchFileSnapshot(place("list"));
  });

  it("in a subscription", async () => {
    const query = "subscription { noteChanged { text } }";
    const events = [ada, bob].map((user) => client.as(user).subscribe(query));
    await Promise.all(events.map((each) => each.ready()));

    await app.pubsub.publish(changed, ofAda);
    await app.pubsub.publish(changed, ofBob);
    const [owner = "", other = ""] = await Promise.all(
      events.map(async (each) => JSON.stringify((await each.next()).value?.data)),
    );
    await Promise.all(events.map((each) => each.return()));

    expect([owner, other]).toEqual(['{"noteChanged":{"text":"Buy milk"}}', '{"noteChanged":{"text":"Call Eve"}}']);
    await expect(shown(`${query}\n# a note of ada changes, then one of bob`, owner, other)).toMatchFileSnapshot(
      place("subscription"),
    );
  });

  it("with an API key", async () => {
    const asked = async (user: SimpleUser) => {
      const made = await client.as(user).post("/keys");
      const { key } = made.json() as { readonly key: string };
      return client.get("/notes/1", { headers: { "x-api-key": key } });
    };

    const [owner, other] = [await asked(ada), await asked(bob)];

    expect([owner.status, owner.json(), other.status]).toEqual([200, ofAda, 404]);
    await expect(shown("GET /notes/1\nX-API-Key: ...", line(owner), line(other))).toMatchFileSnapshot(place("api-key"));
  });

  it("in a pull request that removes it", async () => {
    const folder = join(root, ".cache/one-rule");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    for (const name of ["portico.config.ts", "access.md"]) await cp(join(EXAMPLE, name), join(folder, name));
    const before = await readFile(join(EXAMPLE, "app.ts"), "utf8");
    const after = before.replace(", { auth: ownNotes });", ");");
    await writeFile(join(folder, "app.ts"), after);

    const check = (place: string) => runPortico(["audit", "--check"], { cwd: place });
    const [passed, failed] = [await check(EXAMPLE), await check(folder)];

    expect(after).not.toBe(before);
    expect([passed.code, failed.code]).toEqual([0, 1]);
    const removed = before.split("\n").find((text) => text.includes("{ auth: ownNotes });")) ?? "";
    const diff = `- ${removed}\n+ ${removed.replace(", { auth: ownNotes });", ");")}`;
    await expect(`${diff}\n\n$ portico audit --check\n${failed.out}${failed.err}`).toMatchFileSnapshot(
      place("pull-request"),
    );
  });
});

function place(name: string): string {
  return join(root, `docs/one-rule/${name}.txt`);
}
