import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { compileSnippets } from "../../scripts/snippets/snippets.ts";

it("one registered permission makes a misspelt one an error in gates", async () => {
  const code = readFileSync(new URL("./fixtures/registered-permissions.ts", import.meta.url), "utf8");

  const faults = await compileSnippets("registered-permissions", [
    { file: "registered-permissions", line: 1, language: "ts", code },
  ]);

  expect(faults).toEqual([]);
});

it("one Register declaration types the user on every door", async () => {
  const code = readFileSync(new URL("./fixtures/registered.ts", import.meta.url), "utf8");

  const faults = await compileSnippets("registered", [{ file: "registered", line: 1, language: "ts", code }]);

  expect(faults).toEqual([]);
});
