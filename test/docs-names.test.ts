import { describe, expect, it } from "vitest";
import { filesBelow, read } from "../scripts/package/repository.ts";
import { sectionOf, sections } from "../src/core/advice/docs-address.ts";
import { errorCodes } from "../src/core/error-codes.ts";
import { anchorsIn } from "./docs/markdown.ts";
import { namedCodes, namesOfSamples } from "./docs/named-codes.ts";
import { isOption, type NamedOption, optionsInTables, optionsInText } from "./docs/named-options.ts";

const pages = ["README.md", "SECURITY.md", ...(await filesBelow("docs", ".md"))];
const code = (
  await Promise.all(["src", "examples", "packages/portico-client/src"].map((f) => filesBelow(f, ".ts")))
).flat();

describe("an error code that a page names", () => {
  const others = new Set([...pages, ...code].flatMap(namesOfSamples));
  const isOfNode = (code: string): boolean =>
    code.startsWith("ERR_") || ["NODE_EXTRA_CA_CERTS", "NO_COLOR"].includes(code);

  it("is thrown by Portico, or by a sample", () => {
    const named = pages.flatMap(namedCodes);

    expect(named.length).toBeGreaterThan(200);
    expect(named.filter(({ code }) => !(code in errorCodes) && !others.has(code) && !isOfNode(code))).toEqual([]);
  });
});

describe("an option that a page names", () => {
  it("is declared by the interface of its table", () => {
    const named = pages.flatMap(optionsInTables);

    expect(named.length).toBeGreaterThan(200);
    expect(named.filter((option) => !isOption(option))).toEqual([]);
  });

  it("belongs to the group that the text gives it", () => {
    const named = pages.flatMap(optionsInText);

    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((option) => !isOption(option))).toEqual([]);
  });

  it("is a flag of the command line if it begins with two dashes", () => {
    const program = code
      .filter((file) => file.startsWith("src/cli/"))
      .map(read)
      .join("\n");
    const flags = [...read("docs/reference/cli.md").matchAll(/`--([a-z-]+)/g)].map(([, flag = ""]) => flag);

    expect(flags.length).toBeGreaterThan(8);
    expect(flags.filter((flag) => !new RegExp(`\\b${flag}"?: \\{ type|--${flag}\\b`).test(program))).toEqual([]);
  });

  it.each<NamedOption>([
    { at: "", name: "maxBdy", interfaces: ["PorticoAppOptions"] },
    { at: "", name: "maxBody", interfaces: ["CookieOptions"] },
    { at: "", name: "maxBdy", interfaces: [] },
    { at: "", name: "timeouts.maxBody", interfaces: [] },
  ])("is reported when nothing declares it: $name of $interfaces", (option) => {
    expect(isOption(option)).toBe(false);
  });
});

describe("the section of the documentation that an error names", () => {
  const ANY = sectionOf("");

  it("exists", () => {
    const missing = sections.filter(([, section]) => {
      const [page = "", anchor] = section.split("#");
      return !pages.includes(`docs/${page}`) || (anchor !== undefined && !anchorsIn(`docs/${page}`).includes(anchor));
    });

    expect(sections.length).toBeGreaterThan(50);
    expect(missing).toEqual([]);
  });

  it("has a row for each code", () => {
    const rows = read("docs/errors.md");

    expect(Object.keys(errorCodes).filter((code) => !rows.includes(`| \`${code}\` |`))).toEqual([]);
  });

  it("is there for every option that the sources name", () => {
    const named = code
      .filter((file) => file.startsWith("src/"))
      .flatMap((file) => [
        ...read(file).matchAll(
          /(?:new ConfigurationError|resolveOptions|unknownOption)\(\s*["`]([A-Za-z][\w. ]+)["`$]/g,
        ),
      ])
      .map(([, option = ""]) => option);

    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((option) => sectionOf(option) === ANY)).toEqual([]);
  });
});
