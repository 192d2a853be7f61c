import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { compileSnippets } from "../../scripts/snippets/snippets.ts";

it("one Register declaration types the user of every field and gate", async () => {
  const code = readFileSync(new URL("./fixtures/graphql-registered.ts", import.meta.url), "utf8");

  const faults = await compileSnippets("graphql-registered", [
    { file: "graphql-registered", line: 1, language: "ts", code },
  ]);

  expect(faults).toEqual([]);
});
