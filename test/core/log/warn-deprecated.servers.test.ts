import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { filesBelow, read, root } from "../../../scripts/package/repository.ts";

const program = `
import { warnDeprecated } from "./src/core/log/warn-deprecated.ts";
const deprecation = { name: "PorticoApp.origin", instead: "PorticoApp.origins", endsIn: "0.3.0" };
warnDeprecated(deprecation);
warnDeprecated(deprecation);
warnDeprecated({ name: "t.text", instead: "t.string", endsIn: "0.4.0" });
`;

function run(...flags: readonly string[]): { readonly status: number | null; readonly warnings: readonly string[] } {
  const { status, stderr } = spawnSync(
    process.execPath,
    [...flags, "--input-type=module-typescript", "--eval", program],
    {
      cwd: root,
      encoding: "utf8",
    },
  );
  return { status, warnings: stderr.split("\n").filter((line) => line.includes("deprecated and ends")) };
}

it("prints one warning per name, with its replacement and the version in which it ends", () => {
  const { warnings } = run();

  expect(warnings).toEqual([
    expect.stringMatching(
      /\[PORTICO_DEPRECATED\] DeprecationWarning: PorticoApp\.origin is deprecated and ends in Portico 0\.3\.0: use PorticoApp\.origins$/,
    ),
    expect.stringMatching(/t\.text is deprecated and ends in Portico 0\.4\.0: use t\.string$/),
  ]);
});

it("is hidden and thrown by the flags of Node", () => {
  expect(run("--no-deprecation").warnings).toEqual([]);
  expect(run("--throw-deprecation").status).toBe(1);
});

it("finds deprecations that are overdue", () => {
  expect(overdue('warnDeprecated({ name: "a", instead: "b", endsIn: "0.1.0" })', "0.1.0")).toEqual(["0.1.0"]);
  expect(overdue('warnDeprecated({ name: "a", instead: "b", endsIn: "0.10.0" })', "0.9.1")).toEqual([]);
});

it("leaves nothing in the sources that had to end by this version", async () => {
  const { version } = JSON.parse(read("package.json")) as { readonly version: string };
  const files = await filesBelow("src", ".ts");

  expect(files.filter((file) => overdue(read(file), version).length > 0)).toEqual([]);
});

/** The versions in which deprecations of a source had to end, up to this one. */
function overdue(source: string, version: string): readonly string[] {
  return [...source.matchAll(/\bendsIn: "(?<end>[\d.]+)"/g)]
    .map(({ groups }) => groups?.["end"] ?? "")
    .filter((end) => end.localeCompare(version, "en", { numeric: true }) <= 0);
}
