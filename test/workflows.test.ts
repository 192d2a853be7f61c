import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { read, root } from "../scripts/package/repository.ts";

const folder = ".github/workflows";
const workflows = readdirSync(join(root, folder)).map((name): [string, readonly Line[]] => [
  name,
  linesOf(read(`${folder}/${name}`)),
]);

/** A line of YAML: how far it is indented, and the rest. A block of text below a key is part of the key's line. */
interface Line {
  readonly indent: number;
  readonly text: string;
}

describe.each(workflows)("%s", (_name, lines) => {
  const steps = blocks(lines, (text) => text.startsWith("- uses:") || text.startsWith("uses:"));

  it("pins every action to a commit, with the version next to it", () => {
    const unpinned = steps.map(([{ text }]) => text).filter((text) => !/@[\da-f]{40} # v\d+\.\d+\.\d+$/.test(text));

    expect(steps.length).toBeGreaterThan(0);
    expect(unpinned).toEqual([]);
  });

  it("pins an action to one commit", () => {
    const pins = new Map(workflows.flatMap(([, all]) => all).flatMap(({ text }) => pinOf(text)));

    for (const { text } of lines) for (const [action, pin] of pinOf(text)) expect(pin).toBe(pins.get(action));
  });

  it("leaves no credentials in a checkout", () => {
    const checkouts = steps.filter(([{ text }]) => text.includes("actions/checkout@"));

    for (const step of checkouts) expect(step.map(({ text }) => text)).toContain("persist-credentials: false");
  });

  it("grants nothing to all jobs, and to each job what it names", () => {
    expect(lines).toContainEqual({ indent: 0, text: "permissions: {}" });
    const jobs = lines.slice(lines.findIndex(({ text }) => text === "jobs:"));

    expect(jobs.filter(({ indent, text }) => indent === 4 && text === "permissions:").length).toBe(
      jobs.filter(({ indent }) => indent === 2).length,
    );
  });

  it("puts no expression into a script", () => {
    const scripts = lines.filter(({ text }) => /^(?:- )?run:/.test(text));

    expect(scripts.filter(({ text }) => text.includes("${{"))).toEqual([]);
  });

  it("reads no secret: the only credential is the token of the job", () => {
    expect(lines.filter(({ text }) => text.includes("secrets."))).toEqual([]);
  });
});

describe("release.yml", () => {
  const text = read(`${folder}/release.yml`);

  it("publishes with provenance, by the identity of the workflow", () => {
    expect(text).toContain("id-token: write");
    expect(text).toContain('NPM_CONFIG_PROVENANCE: "true"');
    expect(text).not.toContain("NODE_AUTH_TOKEN");
  });

  it("attaches an SBOM to the release", () => {
    expect(text).toMatch(/run: npm run sbom -- "(?<file>[^"]+)"[^]+gh release upload .+ "\k<file>"/);
  });

  it("restores no cache", () => {
    const setups = text.match(/actions\/setup-node@/g) ?? [];

    expect(text.match(/package-manager-cache: false/g)).toHaveLength(setups.length);
    expect(text).not.toMatch(/^\s*cache:/m);
  });
});

function linesOf(text: string): readonly Line[] {
  const lines: { indent: number; text: string }[] = [];
  let block = -1;
  for (const raw of text.split("\n")) {
    const indent = raw.length - raw.trimStart().length;
    const last = lines.at(-1);
    if (raw.trim() === "" || raw.trim().startsWith("#")) continue;
    if (block >= 0 && indent > block && last !== undefined) {
      last.text += `\n${raw.trim()}`;
      continue;
    }
    lines.push({ indent, text: raw.trim() });
    block = /[|>][-+]?$/.test(raw) ? indent : -1;
  }
  return lines;
}

/** Each line that matches, with the lines of its step. */
function blocks(lines: readonly Line[], isStart: (text: string) => boolean): readonly [Line, ...Line[]][] {
  return lines.flatMap((line, at): [Line, ...Line[]][] => {
    if (!isStart(line.text)) return [];
    const rest = lines.slice(at + 1);
    const end = rest.findIndex(({ indent }) => indent <= line.indent);
    return [[line, ...rest.slice(0, end === -1 ? rest.length : end)]];
  });
}

function pinOf(text: string): readonly [string, string][] {
  const pin = /uses: (?<owner>[^/@]+\/[^/@]+)(?:\/[^@]+)?@(?<commit>.+)$/.exec(text)?.groups;
  return pin === undefined ? [] : [[pin["owner"] ?? "", pin["commit"] ?? ""]];
}
