import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "../scripts/package/built-package.ts";
import { read } from "../scripts/package/repository.ts";
import { type Program, startProgram } from "./docs/program.ts";
import { shellBlocks, withoutSetUp } from "./docs/shell-blocks.ts";

/** The block after the comment that names the file to copy it into. */
const EXAMPLE = /<!-- example: (?<file>\S+) -->\n```\w+\n(?<code>.*?)^```$/ms;

interface Books {
  readonly items: readonly object[];
  readonly pagination: { readonly links: { readonly next?: string } };
}

describe("the README example, copied into an empty folder", () => {
  const { file = "", code = "" } = EXAMPLE.exec(read("README.md"))?.groups ?? {};
  const [setUp, use] = shellBlocks("README.md")
    .map(({ commands }) => withoutSetUp(commands))
    .filter((commands) => commands !== "");
  const runInFolder = (commands = "") => promisify(execFile)("bash", ["-ec", commands], { cwd: folder });
  let folder: string;
  let packageType: string | undefined;
  let program: Program;
  let exitCode: number | null | undefined;
  let cookie = "";

  beforeAll(async () => {
    folder = await folderWithPackage("readme");
    await runInFolder(setUp);
    packageType = (JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as { type?: string }).type;
    await writeFile(join(folder, file), code);
    program = await startProgram(folder, file);
  });
  afterAll(async () => {
    if (exitCode === undefined) await program?.end("SIGKILL");
  });

  it("runs in the package that `npm init` creates, as an ES module", () => {
    expect(packageType).toBe("module");
  });

  it("has about twenty lines", () => {
    expect(code.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(22);
  });

  it("rejects an anonymous request for the list", async () => {
    const answer = await fetch(`${program.url}/books`);

    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: "unauthenticated" });
  });

  it("registers, signs in and fetches the first page with the commands below it", async () => {
    const { stdout } = await runInFolder(use?.replace("http://127.0.0.1:3000", program.url));

    expect(stdout).toMatch(/"Emma".*"Middlemarch".*"next":/);
  });

  it("pages through the list", async () => {
    const login = await program.post("/account/login", { identifier: "ann", password: "correct horse battery" });
    cookie = login.headers
      .getSetCookie()
      .map((line) => line.split(";")[0])
      .join("; ");

    const first = (await (await fetch(`${program.url}/books`, { headers: { cookie } })).json()) as Books;
    const second = (await (await fetch(first.pagination.links.next ?? "", { headers: { cookie } })).json()) as Books;

    expect(first.items).toEqual([
      { id: "0", title: "Emma" },
      { id: "1", title: "Middlemarch" },
    ]);
    expect(second.items).toEqual([{ id: "2", title: "Persuasion" }]);
    expect(second.pagination.links.next).toBeUndefined();
  });

  it("serves the same user and the same list over GraphQL", async () => {
    const query = "{ me shelf(first: 1) { edges { node { title } } pageInfo { hasNextPage } } }";
    const signedIn = await program.post("/graphql", { query }, { cookie });

    expect(await signedIn.json()).toMatchObject({
      data: { me: "ann", shelf: { edges: [{ node: { title: "Emma" } }], pageInfo: { hasNextPage: true } } },
    });
  });

  it.each([
    ["{ me }", { me: null }],
    ["{ shelf { edges { cursor } } }", { shelf: null }],
  ])("rejects the anonymous query %s", async (query, data) => {
    const response = await program.post("/graphql", { query });

    expect(await response.json()).toMatchObject({ data, errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
  });

  it("shuts down gracefully on SIGTERM", async () => {
    exitCode = await program.end("SIGTERM");

    expect(exitCode).toBe(0);
  });
});
