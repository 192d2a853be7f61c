import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

it("the guide lists every option of createClient, in the order of the source", () => {
  const [, table = ""] = /\n(\| `createClient` option .*?)\n\n/s.exec(read("docs/guide/client.md")) ?? [];
  const [, declared = ""] =
    /interface ClientOptions \{(.*?)\n\}/s.exec(read("packages/portico-client/src/create-client.ts")) ?? [];

  const [listed, options] = [
    [...table.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name),
    [...declared.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name),
  ];

  expect(options.length).toBeGreaterThan(5);
  expect(listed).toEqual(options);
});
