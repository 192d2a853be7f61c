import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderWithPackage } from "./docs/built-package.ts";
import { type Program, startProgram } from "./docs/program.ts";
import { read } from "./docs/repository.ts";

/** The block after the mark, which names the file that it is copied into. */
const EXAMPLE = /<!-- example: (?<file>\S+) -->\n```\w+\n(?<code>.*?)^```$/ms;

interface Books {
  readonly items: readonly object[];
  readonly pagination: { readonly links: { readonly next?: string } };
}

describe("the first example of the README, copied into an empty folder", () => {
  const { file = "", code = "" } = EXAMPLE.exec(read("README.md"))?.groups ?? {};
  let program: Program;
  let exitCode: number | null | undefined;
  let cookie = "";

  beforeAll(async () => {
    const folder = await folderWithPackage("readme");
    await writeFile(join(folder, file), code);
    program = await startProgram(folder, file);
  }, 60_000);
  afterAll(async () => {
    if (exitCode === undefined) await program?.end("SIGKILL");
  });

  it("is about twenty lines", () => {
    expect(code.split("\n").filter((line) => line.trim() !== "").length).toBeLessThanOrEqual(22);
  });

  it("keeps the list from who has not signed in", async () => {
    const answer = await fetch(`${program.url}/books`);

    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ code: "unauthenticated" });
  });

  it("registers, signs in, and shows the list page by page", async () => {
    await program.post("/account/register", {
      email: "ann@shop.example",
      username: "ann",
      password: "correct horse battery",
    });
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

  it("knows the same user in the graph, and gives the same list as a connection", async () => {
    const query = "{ me shelf(first: 1) { edges { node { title } } pageInfo { hasNextPage } } }";
    const known = await program.post("/graphql", { query }, { cookie });
    const nobody = await program.post("/graphql", { query: "{ me }" });

    expect(await known.json()).toMatchObject({
      data: { me: "ann", shelf: { edges: [{ node: { title: "Emma" } }], pageInfo: { hasNextPage: true } } },
    });
    expect(await nobody.json()).toMatchObject({ errors: [{ extensions: { code: "UNAUTHENTICATED" } }] });
  });

  it("ends in order on SIGTERM", async () => {
    exitCode = await program.end("SIGTERM");

    expect(exitCode).toBe(0);
  });
});
