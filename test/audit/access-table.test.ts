import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runHere } from "../cli/run-portico.ts";
import { looks } from "./fixtures/looking-gates.ts";

const waysToLook = Object.keys(looks);

const config = join(import.meta.dirname, "fixtures/gates.config.ts");

const portico = (...args: readonly string[]) => runHere([...args, "--config", config]);

let audited: Promise<ReadonlyMap<string, readonly unknown[]>> | undefined;

/** The access table, which is the same for all tests. */
const rows = (): Promise<ReadonlyMap<string, readonly unknown[]>> => (audited ??= audit());

async function audit(): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const { out } = await portico("audit", "--json");
  const { table } = JSON.parse(out) as { table: readonly Record<string, string>[] };
  return new Map(
    table.map(({ kind, place, gate, anonymous, signedIn, grants }) => {
      return [`${kind} ${place}`, [gate, anonymous, signedIn, grants]];
    }),
  );
}

describe("portico audit", () => {
  it("says whom each gate lets in", async () => {
    const table = await rows();
    const of = (place: string) => table.get(place);

    expect(of("route GET /open")).toEqual(["anyone", "yes", "yes", []]);
    expect(of("route GET /signed-in")).toEqual(["signed in", "no", "yes", []]);
    expect(of("route GET /optional")).toEqual(["anyone", "yes", "yes", []]);
    expect(of("route GET /by-key")).toEqual(["signed in by apikey within the last 60 s", "no", "depends", []]);
    expect(of("route GET /payout")).toEqual(["signed in by session with a second factor", "no", "depends", []]);
    expect(of("route GET /either")).toEqual(["permission a or permission b", "no", "no", ["a: yes", "b: yes"]]);
    expect(of("route GET /not")).toEqual(["signed in and not (signed in, a function)", "no", "yes", ["suspended: no"]]);
  });

  it("names all permissions, and leaves out what another gate implies", async () => {
    const table = await rows();
    const gateOf = (path: string): unknown => table.get(`route GET ${path}`)?.[0];

    expect(gateOf("/pair")).toBe("permissions a and b");
    expect(gateOf("/optional-a")).toBe("anonymous, or permission a");
    expect(gateOf("/implied")).toBe("permission a");
    expect(gateOf("/unimplied")).toBe("signed in and anonymous, or permission a");
    expect(gateOf("/twice")).toBe("signed in");
    expect(gateOf("/nested")).toBe("isEditor() and (signed in or permission a)");
  });

  it("finds the permissions that a function asks for, through the methods of the user class", async () => {
    const table = await rows();

    expect(table.get("route GET /function")).toEqual(["signed in, a function", "no", "no", ["edit: yes"]]);
    expect(table.get("route GET /both")).toEqual(["permission a and a function", "no", "no", ["a + b: yes"]]);
  });

  it("does not guess about gates that depend on a request, or that fail", async () => {
    const table = await rows();

    expect(table.get("route GET /by-path/:id")).toEqual(["signed in, a function", "no", "depends", []]);
    expect(table.get("route GET /by-permission-or-path/:id")?.slice(1)).toEqual(["no", "depends", ["a: yes"]]);
    expect(table.get("route GET /any-path/:id")?.slice(1)).toEqual(["no", "depends", []]);
    expect(table.get("route GET /fails")).toEqual(["signed in, a function", "no", "depends", []]);
    expect(table.get("route GET /own-check")?.slice(0, 3)).toEqual([
      "signed in, a check of the application",
      "depends",
      "depends",
    ]);
  });

  it("asks for every sign-in method, level and age, and says depends where the answers differ", async () => {
    const table = await rows();
    const of = (path: string) => table.get(`route GET /signs-in/${path}`)?.slice(1);

    expect(of("by-method")).toEqual(["no", "no", ["a: depends", "b: depends"]]);
    expect(of("not-session")).toEqual(["yes", "depends", []]);
    expect(of("any-level")).toEqual(["no", "yes", []]);
    expect(of("fresh")).toEqual(["no", "no", ["a: depends"]]);
    expect(of("own-backend")).toEqual(["yes", "depends", []]);
    expect(of("claims")).toEqual(["yes", "depends", ["suspended: no"]]);
    expect((await portico("why", "anonymous", "GET", "/signs-in/fresh")).out).toContain("no: permission a");
  });

  it.each(waysToLook)("notices a gate that looks at a user, an object or a request: %s", async (name) => {
    const table = await rows();
    const found = [...table].filter(([place]) => place.endsWith(`/${name}`) || place === `type By${name}`);

    expect(found.length).toBeGreaterThan(0);
    for (const [place, [, , signedIn]] of found) expect([place, signedIn]).toEqual([place, "depends"]);
  });

  it("adds the gate of the endpoint to its fields, and that of a type to the fields that return it", async () => {
    const table = await rows();

    expect(table.get("mutation Mutation.wipe")).toEqual(["signed in", "no", "yes", []]);
    expect(table.get("query Query.note")).toEqual(["signed in", "no", "owner_id = caller", []]);
    expect(table.get("query Query.audit")).toEqual(["signed in and MayAudit", "no", "no", []]);
    expect(table.get("type Note")).toEqual(["rule note.own", "no", "owner_id = caller", []]);
    expect(table.has("field Note.text")).toBe(false);
  });

  it("writes a file that it then agrees with, also with Windows line ends", async () => {
    const folder = await mkdtemp(join(tmpdir(), "access-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "access.md");

    expect(await portico("audit", "--check", file)).toMatchObject({ code: 1, err: expect.stringContaining("--write") });
    expect((await portico("audit", "--write", file)).code).toBe(0);
    expect(await portico("audit", "--check", file)).toMatchObject({ code: 0, err: "" });
    await writeFile(file, (await readFile(file, "utf8")).replaceAll("\n", "\r\n"));
    expect((await portico("audit", "--check", file)).code).toBe(0);
  });

  it("fails for each line that is missing, changed or no longer true", async () => {
    const folder = await mkdtemp(join(tmpdir(), "access-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "access.md");
    await portico("audit", "--write", file);
    const text = await readFile(file, "utf8");
    await writeFile(
      file,
      text
        .replace(/^\| GET \/open .*\n/m, "")
        .replace("| GET /signed-in | signed in | no | yes |", "| GET /signed-in | permission a | no | no |")
        .replace("| GET /not |", "| GET /old |"),
    );

    const { code, out } = await portico("audit", "--check", file);

    expect(code).toBe(1);
    expect(out).toContain("route GET /open is new. It is open to anyone.\n");
    expect(out).toContain(
      "route GET /signed-in has changed. It is open to every signed-in user. gate: signed in, before: permission a;",
    );
    expect(out).toContain("route GET /old no longer exists.\n");
    expect(out).toContain("If this is intended, run portico audit --write");
  });
});

describe("portico audit for a person", () => {
  it("begins with the facts that matter, and puts the own places before those of Portico", async () => {
    const { out } = await portico("audit");
    const lines = out.split("\n");

    expect(lines[0]).toMatch(/^audit: \d+ places, \d+ open to anyone, \d+ of them writes?$/);
    expect(lines[1]).toMatch(/^This application: \d+ places, /);
    expect(out).toMatch(/^Open to anyone, and writes: /m);
    expect(out).toMatch(/^Every signed-in user writes: .*Mutation\.wipe/m);
    expect(out).toMatch(/^Writes with a permission or by a rule: /m);
    expect(out).toMatch(/^Changed since the last review: unknown, because there is no access\.md/m);
    expect(out.indexOf("Places of this application")).toBeLessThan(out.indexOf("Places of Portico"));
    expect(out.slice(out.indexOf("Places of Portico"))).toMatch(/^POST \/graphql /m);
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });

  it("shows only the places that are open, that write, or that a role opens", async () => {
    const placesOf = async (...flags: readonly string[]): Promise<readonly string[]> => {
      const { table } = JSON.parse((await portico("audit", "--json", ...flags)).out) as { table: { place: string }[] };
      return table.map(({ place }) => place);
    };
    const [all, open, writes] = [await placesOf(), await placesOf("--public"), await placesOf("--writes")];

    expect(open).toContain("GET /open");
    expect(open).not.toContain("GET /signed-in");
    expect(writes).toContain("Mutation.wipe");
    expect(writes).not.toContain("POST /graphql");
    expect(all.length).toBeGreaterThan(open.length);
    expect(await portico("audit", "--role", "ghost")).toMatchObject({
      code: 2,
      err: expect.stringContaining('the configuration has no role "ghost"'),
    });
    expect((await portico("audit", "--public", "--check")).code).toBe(2);
  });

  it("writes a file whose first screen says what is open, what writes, and what changed since the last review", async () => {
    const folder = await mkdtemp(join(tmpdir(), "access-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "access.md");
    await portico("audit", "--write", file);
    const first = await readFile(file, "utf8");
    expect(first.split("\n").slice(0, 20).join("\n")).toMatch(/open to anyone \| of them write \|/);
    expect(first).not.toContain("## Changed since the last review");

    await writeFile(file, first.replace(/^\| GET \/open .*\n/m, ""));
    await portico("audit", "--write", file);
    const second = await readFile(file, "utf8");
    expect(second.split("\n").slice(0, 24).join("\n")).toContain(
      "## Changed since the last review\n\n- route GET /open is new. It is open to anyone.\n",
    );
    // Without a change, the file stays as it is.
    await portico("audit", "--write", file);
    expect(await readFile(file, "utf8")).toBe(second);
    expect((await portico("audit", "--check", file)).code).toBe(0);
  });

  it("says on its first screen what changed since the last review", async () => {
    const folder = await mkdtemp(join(tmpdir(), "access-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const inFolder = (...args: readonly string[]) => runHere([...args, "--config", config], { cwd: folder });
    await inFolder("audit", "--write");
    const file = join(folder, "access.md");
    expect((await inFolder("audit")).out).toMatch(/^Changed since the last review: nothing$/m);

    const text = await readFile(file, "utf8");
    await writeFile(file, text.replace(/^\| GET \/open .*\n/m, ""));
    const changed = "route GET /open is new. It is open to anyone.";
    expect((await inFolder("audit")).out).toContain(`Changed since the last review:\n  ${changed}\n`);
    await inFolder("audit", "--html");
    expect(await readFile(join(folder, "access.html"), "utf8")).toContain(`<li>${changed}</li>`);

    await writeFile(file, text.replaceAll(/^\| (?:GET|POST) .*\n/gm, ""));
    expect((await inFolder("audit")).out).toMatch(/^ {2}and \d+ more: portico audit --check lists them$/m);
  });

  it("writes a page for an auditor, which loads nothing", async () => {
    const folder = await mkdtemp(join(tmpdir(), "access-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "access.html");
    expect((await portico("audit", "--html", file)).out).toContain(`wrote ${file}: audit: `);

    const page = await readFile(file, "utf8");
    expect(page).toContain("<td>GET /either</td><td>permission a or permission b</td>");
    expect(page).toContain("<td>Mutation.wipe <small>writes</small></td>");
    expect(page).toContain("There is no access.md to compare with.");
    expect(page).toMatch(/<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; style-src /);
    expect(page).not.toMatch(/<script|<img|<link (?!rel="icon" href="data:,")|url\(|https?:/);
  });
});

describe("portico why and who", () => {
  it("shows what each part of a gate says", async () => {
    expect((await portico("why", "anonymous", "GET", "/either")).out).toBe(
      "route GET /either\n  no: one of these\n    no: permission a\n    no: permission b\n",
    );
  });

  it("shows which permissions open a place", async () => {
    expect((await portico("who", "GET /both")).out).toBe(
      "route GET /both: permission a and a function\n  anonymous: no\n  signed in: no\n  with a + b: yes\n",
    );
  });

  it("suggests the place that was meant", async () => {
    expect(await portico("who", "GET", "/eiter")).toMatchObject({
      code: 1,
      err: expect.stringContaining('Did you mean "GET /either"?'),
    });
  });
});
