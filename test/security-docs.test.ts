import { describe, expect, it } from "vitest";
import { read } from "../scripts/package/repository.ts";
import { brokenLinks } from "./docs/markdown.ts";

const ASVS = "docs/security/asvs.md";
const statuses = ["Portico", "application", "not applicable", "missing"];

/** How many requirements of levels 1 and 2 each chapter of ASVS 5.0.0 has. */
const sizes = [27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7].map((size, at) => [`V${at + 1}`, size]);

interface Requirement {
  readonly id: string;
  readonly level: string;
  readonly text: string;
  readonly status: string;
  readonly how: string;
}

const requirements = rowsOf(ASVS)
  .filter(([id = ""]) => /^V\d/.test(id))
  .map(([id = "", level = "", text = "", status = "", how = ""]): Requirement => ({ id, level, text, status, how }));

describe("the ASVS page", () => {
  it("has every requirement of levels 1 and 2, once and in order", () => {
    const ids = requirements.map(({ id }) => id);
    const chapters = Object.groupBy(ids, (id) => id.split(".")[0] ?? "");

    expect(Object.entries(chapters).map(([chapter, all = []]) => [chapter, all.length])).toEqual(sizes);
    expect(new Set(ids).size).toBe(253);
    expect(ids).toEqual(ids.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true })));
    expect(requirements.filter(({ level }) => level === "1")).toHaveLength(70);
  });

  it("has a status and an explanation for each", () => {
    const unexplained = requirements.filter(
      ({ status, text, how }) => !statuses.includes(status) || text === "" || how === "",
    );

    expect(unexplained).toEqual([]);
  });

  it("names a test for everything that Portico does", () => {
    const unproved = requirements.filter(({ status, how }) => status === "Portico" && testsIn(how).length === 0);

    expect(unproved).toEqual([]);
  });

  it("counts them as they are", () => {
    const counted = statuses.map((status) => {
      const [one, two] = ["1", "2"].map(
        (level) => requirements.filter((row) => row.status === status && row.level === level).length,
      );
      return [status, one, two, (one ?? 0) + (two ?? 0)].map(String);
    });

    const told = rowsOf(ASVS).filter(([status = ""]) => statuses.includes(status));
    expect(told.map(([status, , ...counts]) => [status, ...counts])).toEqual(counted);
  });

  it("lists the missing ones at its beginning", () => {
    const list = /^## Missing\n(.*?)^## /ms.exec(read(ASVS))?.[1] ?? "";
    const missing = requirements.filter(({ status }) => status === "missing").map(({ id }) => id);

    expect((list.match(/V[\d.]+\d/g) ?? []).toSorted()).toEqual(missing.toSorted());
  });
});

it.each([ASVS, "SECURITY.md"])("%s links to pages, headings and tests that exist", (page) => {
  expect(brokenLinks(page)).toEqual([]);
});

describe("SECURITY.md", () => {
  const boundaries = rowsOf("SECURITY.md").filter((cells) => cells.length === 4);

  it("says how to report a vulnerability", () => {
    expect(read("SECURITY.md")).toMatch(/^## Reporting a vulnerability\n\n.*Report a vulnerability/m);
  });

  it.each([
    /parser/,
    /proxy/,
    /cookies and forgery/,
    /tokens and keys/,
    /gates and rules/,
    /GraphQL documents/,
    /Uploads/,
    /Cursors/,
    /Server-Sent Events/,
    /Redis/,
    /SQL/,
    /logs/,
    /GraphiQL/,
    /host application/,
    /supply chain/,
  ])("has the boundary %s, with an attacker, a defence and tests", (name) => {
    const [boundary, ...others] = boundaries.filter(([title = ""]) => name.test(title));

    expect(others).toEqual([]);
    expect(boundary).toEqual([expect.anything(), ...Array(3).fill(expect.stringMatching(/\w{4}/))]);
    expect(testsIn(boundary?.[3] ?? "").length).toBeGreaterThan(1);
  });
});

/** The rows of all tables of a page, cell by cell. */
function rowsOf(page: string): readonly (readonly string[])[] {
  const lines = read(page).match(/^\|.*\|$/gm) ?? [];
  return lines.map((line) =>
    line
      .slice(1, -1)
      .split("|")
      .map((cell) => cell.trim()),
  );
}

function testsIn(text: string): readonly string[] {
  return [...text.matchAll(/\]\((?<file>[^)]*test\/[^)]+\.test\.ts)\)/g)].map(({ groups }) => groups?.["file"] ?? "");
}
