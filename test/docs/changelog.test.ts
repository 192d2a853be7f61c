import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, read, root } from "../../scripts/package/repository.ts";

interface Manifest {
  readonly version: string;
}

const version = (file: string): string => (JSON.parse(read(file)) as Manifest).version;

describe("the changelog", () => {
  it("has an entry for the version that all packages share", async () => {
    const manifests = (await filesBelow("packages", "package.json")).filter((file) => file.split("/").length === 3);

    expect(manifests).toHaveLength(3);
    expect(manifests.map(version)).toEqual(manifests.map(() => version("package.json")));
    expect(read("CHANGELOG.md")).toMatch(new RegExp(`^## ${version("package.json").replaceAll(".", "\\.")}$`, "m"));
  });

  it("is written by the command that raises the version", () => {
    expect(JSON.parse(read("package.json"))).toMatchObject({
      scripts: {
        "release:version": "node scripts/release-version.ts",
        release: expect.stringContaining("scripts/publish.ts"),
      },
    });
    expect(JSON.parse(read(".changeset/config.json"))).toMatchObject({ changelog: false });
  });

  it("links to files that exist", () => {
    const links = [...read("CHANGELOG.md").matchAll(/\]\((?!https:)([^)#]+)/g)].map(([, link = ""]) => link);

    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });
});
