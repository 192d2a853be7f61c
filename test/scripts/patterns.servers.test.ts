import { expect, it } from "vitest";
import { faultsOf, patternsIn } from "../../scripts/patterns.ts";

const planted = patternsIn(
  "planted.ts",
  String.raw`export const isCharset = (text: string) => /^\s*charset=\s*(\S*)\s*$/i.test(text);`,
);

it("finds literals, and patterns made of the constants of their file", () => {
  const code = [
    'import { other } from "./other.ts";',
    "const LENGTH: number = 3;",
    "export const TOKEN = `[a-z]{${LENGTH}}`;",
    "const made = [new RegExp(`^${TOKEN}$`, 'i'), RegExp('b')];",
    "const notOne = 4 / LENGTH / 2 + '/c/';",
    "export function f(text = /d\\/(?<x>[/])/u) { return text; }",
  ].join("\n");

  const found = patternsIn("a.ts", code);

  expect(found).toEqual([
    { file: "a.ts", line: 4, source: "^[a-z]{3}$", flags: "i" },
    { file: "a.ts", line: 4, source: "b", flags: "" },
    { file: "a.ts", line: 6, source: "d\\/(?<x>[/])", flags: "u" },
  ]);
});

it("refuses a pattern that cannot be known", () => {
  const code = 'import { token } from "./token.ts";\nconst made = new RegExp(`${token}+`);';

  expect(() => patternsIn("a.ts", code)).toThrow(
    "a.ts:2: RegExp(`${token}+`) depends on more than the constants of its file",
  );
});

it("finds a super-linear pattern, and says which text shows it", async () => {
  const [fault, ...others] = await faultsOf([...planted, { file: "b.ts", line: 2, source: "^a+$", flags: "" }], []);

  expect(fault).toMatch(/^planted\.ts:1: .* takes 2nd degree polynomial time, for example on .*repeat/);
  expect(others).toEqual([]);
});

it("lets a reviewed pattern pass in its own file, and finds an exception that nothing needs", async () => {
  const source = planted[0]?.source as string;
  const here = { file: "planted.ts", source, reason: "at startup" };
  const elsewhere = { ...here, file: "other.ts" };

  expect(await faultsOf(planted, [here])).toEqual([]);
  expect(await faultsOf(planted, [elsewhere])).toEqual([
    expect.stringMatching(/^planted\.ts:1: /),
    `other.ts: the exception for /${source}/ is not needed any more`,
  ]);
});

it("does not pass a pattern that the checker cannot read", async () => {
  expect(await faultsOf([{ file: "a.ts", line: 1, source: "[a--b]", flags: "v" }], [])).toEqual([
    "a.ts:1: /[a--b]/v cannot be checked: invalid",
  ]);
});
