import { describe, expect, it } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { read } from "../../scripts/package/repository.ts";

const page = "docs/guide/coding-agents.md";

describe("the guide for coding agents", () => {
  it("is in the npm package, and the templates name its place", () => {
    expect(manifest.files).toContain(page);
    for (const template of ["minimal", "api", "existing"])
      expect(read(`packages/create-portico/templates/${template}/AGENTS.md`)).toContain(`node_modules/portico/${page}`);
  });

  it("has no links to files that are not in the package", () => {
    expect(read(page).match(/\]\((?!https:|#)[^)]*\)/g)).toBeNull();
  });

  it("names only commands that exist", () => {
    const commands = [...read(page).matchAll(/`npx portico ([a-z]+)/g)].map(([, command]) => command);

    expect(commands.length).toBeGreaterThan(5);
    for (const command of commands) expect(read("docs/reference/cli.md")).toContain(`portico ${command}`);
  });

  it("names every entry point but the helper types", () => {
    const entryPoints = Object.keys(manifest.exports)
      .filter((path) => !/json$|^\.\/types/.test(path))
      .map((path) => `\`portico${path.slice(1)}\``);

    for (const entryPoint of entryPoints) expect(read(page)).toContain(entryPoint);
  });
});
