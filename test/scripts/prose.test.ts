import { matchesGlob } from "node:path";
import { describe, expect, it } from "vitest";
import { newSubjects, subjectFaults } from "../../scripts/prose/commit-subjects.ts";
import { exceptionsIn, findingsIn, PLACES, review } from "../../scripts/prose.ts";

const places = (file: string, content: string): readonly string[] =>
  findingsIn(file, content).map(({ line, found }) => `${line}: ${found}`);

describe("the prose check of a page", () => {
  it.each([
    "The route runs for nobody.",
    "Whoever signs in sees it.",
    "The caller could not be found out.",
    "Subscribers are told of it.",
    "This is mended.",
    "Readers leaf through the list.",
    "0 is for ever.",
    "Add a route of your own.",
    "This value is no number.",
    "The token does not count.",
    "Redis is away.",
    "The answer is 404.",
    "Each door loads alone.",
    "What is sent is JSON.",
    "It ends here. Who is calling stays.",
    "It is null, as one that does not exist.",
    "Each receives one event, and none if it fails.",
    "The server reads all of it first.",
    "A slow client ends, as those of others do.",
    "It contains the names of the columns of the tables of a guard.",
    "## What follows",
    "| `maxBody` | what one request may hold |",
  ])("finds the fault in %j", (sentence) => {
    expect(places("page.md", `# Title\n\n${sentence}\n`)).toEqual([expect.stringMatching(/^3: /)]);
  });

  it.each([
    "There is no limit, and it is no longer checked.",
    "The table is part of it, such as those of other tenants.",
    "Queries of your own table are fast.",
    "## What is a gate?",
    "The field `what is no code` and [a page](is-no-page.md) stay.",
    "```sh\nnobody leafs through this\n```",
  ])("accepts %j", (sentence) => {
    expect(places("page.md", `# Title\n\n${sentence}\n`)).toEqual([]);
  });

  it("finds words that a line break separates", () => {
    expect(places("page.md", "A session lasts for\never.\n")).toHaveLength(1);
  });
});

describe("the prose check", () => {
  it.each([
    "README.md",
    "docs/guide/routes.md",
    "docs/.vitepress/config.ts",
    "src/index.ts",
    "browser/operations-page/page.ts",
    "scripts/prose.ts",
    "lab/pictures/terminal.ts",
    "test/exports.test.ts",
    "examples/one-rule/app.ts",
    "packages/create-portico/templates/api/src/app.ts",
  ])("reads %s", (file) => {
    expect(PLACES.some((place) => matchesGlob(file, place))).toBe(true);
  });
});

describe("the prose check of code", () => {
  it("reads comments and messages, and no other code", () => {
    const code = [
      "/** The same for sockets. */",
      "export function nobody(is: number, no: number): number {",
      "  // A caller that is none",
      "  // of our users: for",
      "  // ever anonymous.",
      "  if (is < no) throw new Error(`${is} is no number`);",
      '  return ["somebody", "Nobody is signed in"].length;',
      "}",
    ].join("\n");

    expect(places("a.ts", code).map((place) => place.slice(0, 2))).toEqual(["1:", "3:", "4:", "6:", "7:"]);
  });

  it("reads scripts and tests for words about people only", () => {
    const code = "// Nobody waits for ever.\nexport const text = 'for somebody else';\n";

    expect(["lab/a.ts", "scripts/b.ts", "test/c.ts"].map((file) => places(file, code).length)).toEqual([2, 2, 2]);
    expect(places("src/d.ts", code)).toHaveLength(3);
  });

  it("skips the samples of doc comments", () => {
    expect(
      places("a.ts", "/**\n * Starts.\n *\n * @example\n * ```ts\n * nobody();\n * ```\n */\nexport {};\n"),
    ).toEqual([]);
  });
});

describe("the prose check of commit subjects", () => {
  it.each([
    "http: do not track bus subscriptions on WebSocket contexts",
    "sql, pagination: bring back two messages",
    "test: pass the address of the server on",
  ])("accepts %j", (subject) => {
    expect(subjectFaults(subject)).toEqual([]);
  });

  it.each([
    ["Settle imports", /area: imperative/],
    ["http: Settle imports", /area: imperative/],
    ["portico: name limits without a plural", /name an area/],
    ["all: settle imports after the move of files", /name an area/],
    ["http: fixes the parser", /imperative instead of "fixes"/],
    ["http: fixed the parser", /imperative instead of "fixed"/],
    ["http: fix the parser.", /full stop/],
    ["auth: let nobody read a session", /anonymous/],
    [`http: ${"fix the parser ".repeat(5)}`.trim(), /at most 72/],
  ])("rejects %j", (subject, reason) => {
    expect(subjectFaults(subject)).toEqual([expect.stringMatching(reason)]);
  });

  /** A repository: the commits that add the check, the last commit, and what `git log` prints for a range. */
  const repository = (added: string, head: string, logs: Readonly<Record<string, string>>) => {
    return (...args: readonly string[]): string | null => {
      if (args[0] === "rev-parse") return `${head}\n`;
      return args.includes("--diff-filter=A") ? added : (logs[args.slice(3).join(" ")] ?? null);
    };
  };

  it("reads the commits since there is a check", () => {
    const logs = { "HEAD --not a b": "http: fix it\nhttp: fix more\n" };

    expect(newSubjects(repository("a\nb\n", "c", logs))).toEqual(["http: fix it", "http: fix more"]);
  });

  it("reads the only commit of a clone, and none without git", () => {
    expect(newSubjects(repository("a\n", "a", { "-1 HEAD": "http: fix it\n" }))).toEqual(["http: fix it"]);
    expect(newSubjects(() => null)).toEqual([]);
  });
});

describe("the exceptions of the prose check", () => {
  const findings = findingsIn("a.md", "Nobody has the key.\n\nNobody is signed in.\n");

  it("cover the places with their words, in their file", () => {
    const exceptions = exceptionsIn("# Meant literally.\na.md: Nobody has the key\nb.md: Nobody is signed in\n");

    const { open, unneeded } = review(findings, exceptions);

    expect(open.map(({ line }) => line)).toEqual([3]);
    expect(unneeded).toEqual([{ file: "b.md", words: "Nobody is signed in" }]);
  });
});
