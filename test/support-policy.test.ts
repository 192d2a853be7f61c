import { describe, expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };
import { read } from "../scripts/package/repository.ts";
import { tableOf } from "./docs/markdown.ts";

const page = "docs/support-policy.md";
const supported = new Map(
  tableOf(page).map(([name = "", range = ""]) => [name.replaceAll("`", ""), range.replaceAll(/[`\\]/g, "")]),
);

describe("the support policy", () => {
  it("has the versions of package.json", () => {
    expect(Object.fromEntries(supported)).toEqual({ Node: manifest.engines.node, ...manifest.peerDependencies });
  });

  it("names the versions of Node and graphql that CI tests", () => {
    const workflow = read(".github/workflows/ci.yml");

    expect(workflow).toContain("node: [22, 24, 26]");
    expect(workflow).toContain("graphql: [16, 17]");
    expect(read(page)).toContain("CI runs the tests on 22, 24 and 26.");
  });

  it("promises the security fixes that SECURITY.md promises", () => {
    const policy = read("SECURITY.md").replaceAll(/\s+/g, " ");

    expect(policy).toContain("Before 1.0, only the latest minor release receives security fixes.");
    expect(policy).toContain("the last minor release of the previous major version receives them for twelve months");
    expect(policy).toContain("within three working days");
    expect(read(page)).toMatch(
      /before 1\.0 \| the latest minor release only[^]*its last minor release, for twelve months/,
    );
    expect(read(page)).toContain("within three working days");
  });
});
