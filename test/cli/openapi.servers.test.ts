import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runHere, runOnTerminal, runPortico } from "./run-portico.ts";

const config = ["--config", resolve(import.meta.dirname, "fixtures/shop.config.ts")];

describe("portico openapi", () => {
  let cwd: string;
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "portico-openapi-"));
  });
  afterAll(() => rm(cwd, { recursive: true }));

  it("prints the document, the same with --json", async () => {
    const [plain, json] = [
      await runPortico(["openapi", ...config]),
      await runPortico(["openapi", "--json", ...config]),
    ];

    expect(JSON.parse(plain.out)).toMatchObject({ openapi: "3.1.0", info: { title: "Shop", version: "1.2.0" } });
    expect(json).toEqual(plain);
    expect((await runOnTerminal(["openapi", ...config])).out).toBe(plain.out);
  });

  it("writes the document, and checks a file that a formatter has changed", async () => {
    expect(await runHere(["openapi", "--out", "openapi.json", ...config], { cwd })).toEqual({
      code: 0,
      out: "wrote openapi.json\n",
      err: "",
    });

    const text = await readFile(join(cwd, "openapi.json"), "utf8");
    await writeFile(join(cwd, "openapi.json"), JSON.stringify(JSON.parse(text)));

    expect(text).toMatch(/^\{\n {2}"openapi": "3\.1\.0",\n[^]*\n\}\n$/);
    expect(await runHere(["openapi", "--check", "openapi.json", ...config], { cwd })).toEqual({
      code: 0,
      out: "openapi.json is up to date\n",
      err: "",
    });
  });

  it("ends with 1 and names the differences if the file is out of date", async () => {
    const document = JSON.parse((await runHere(["openapi", ...config])).out);
    document.info.title = "Another shop";
    delete document.paths["/orders/{id}"];
    await writeFile(join(cwd, "old.json"), JSON.stringify(document));

    const plain = await runHere(["openapi", "--check", "old.json", ...config], { cwd });
    const json = await runHere(["openapi", "--check", "old.json", "--json", ...config], { cwd });

    expect(plain).toEqual({
      code: 1,
      out: "old.json differs from the application. Run portico openapi --out old.json\n  /info/title\n  /paths/~1orders~1{id}\n",
      err: "",
    });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.out)).toEqual({
      file: "old.json",
      isCurrent: false,
      differences: ["/info/title", "/paths/~1orders~1{id}"],
    });
  });

  it("fails for a missing file, a file that is not JSON, and --out with --check", async () => {
    await writeFile(join(cwd, "broken.json"), "{");
    const run = (...words: string[]) => runHere(["openapi", ...words, ...config], { cwd });

    expect(await run("--check", "none.json")).toMatchObject({
      code: 1,
      err: expect.stringContaining("none.json cannot be read"),
    });
    expect(await run("--check", "broken.json")).toMatchObject({ code: 1, err: expect.stringContaining("is not JSON") });
    expect((await run("--check", "a.json", "--out", "a.json")).code).toBe(2);
  });
});
