import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { folderWithPackage } from "./docs/built-package.ts";
import { type Program, startProgram } from "./docs/program.ts";
import { read, root } from "./docs/repository.ts";

/** The block after the mark, which names the file that it is copied into. */
const EXAMPLE = /<!-- example: (?<file>\S+) -->\n```\w+\n(?<code>.*?)^```$/ms;

describe("the first example of the README, copied into an empty folder", () => {
  const { file = "", code = "" } = EXAMPLE.exec(read("README.md"))?.groups ?? {};
  let program: Program;
  let exitCode: number | null | undefined;

  beforeAll(async () => {
    const folder = await folderWithPackage("readme");
    await writeFile(join(folder, file), code);
    program = await startProgram(folder, file);
  }, 60_000);
  afterAll(async () => {
    if (exitCode === undefined) await program?.end("SIGKILL");
  });

  it("is about twenty lines", () => {
    expect(code.trim().split("\n").length).toBeLessThanOrEqual(30);
  });

  it("answers", async () => {
    const answer = await fetch(`${program.url}/books/1`);

    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ id: "1", title: "Middlemarch" });
  });

  it("keeps what a handler saved", async () => {
    const saved = await fetch(`${program.url}/books/2`, { method: "PUT", body: "Emma" });
    const answer = await fetch(`${program.url}/books/2`);

    expect(await saved.json()).toEqual({ saved: "2" });
    expect(await answer.json()).toEqual({ id: "2", title: "Emma" });
  });

  it("answers a problem where there is nothing", async () => {
    const answer = await fetch(`${program.url}/books/9`);

    expect(answer.status).toBe(404);
    expect(answer.headers.get("content-type")).toMatch("application/problem+json");
    expect(await answer.json()).toMatchObject({ status: 404, code: "not_found", detail: "There is no book 9" });
  });

  it("ends in order on SIGTERM", async () => {
    exitCode = await program.end("SIGTERM");

    expect(exitCode).toBe(0);
  });
});

describe("examples/bookshop, copied out of the repository", () => {
  it("runs with plain Node", async () => {
    const folder = await folderWithPackage("bookshop");
    await cp(join(root, "examples/bookshop/src"), join(folder, "src"), { recursive: true });
    const program = await startProgram(folder, "src/server.ts");

    onTestFinished(async () => void (await program.end("SIGKILL")));

    const answer = await fetch(`${program.url}/books`);

    expect(await answer.json()).toMatchObject({
      items: [{ isbn: "9780141439549", title: "Middlemarch", author: "George Eliot" }],
      pagination: { has_more: false },
    });
  }, 60_000);
});
