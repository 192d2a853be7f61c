import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { chromium } from "playwright-core";
import { type Journey, travel } from "./newcomer/journey.ts";
import { openServers } from "./newcomer/open-servers.ts";
import { expressApplication, fastifyApplication } from "./newcomer/servers.ts";
import { run, terminal } from "./newcomer/shell.ts";

// Does what a newcomer does, from the packed packages in an empty folder. The first journey is the quick start: it creates,
// installs and starts an application, signs in two users, and lets the file grow until the rule hides the note of one from the
// other. The others create an application from each template, install, test and start it, register, sign in, query, page
// through a list and open GraphiQL. It prints the seconds of each step, the totals, and the first of them last. A step that
// fails ends it with 1. The time does not, because other processes use the machine as well.
// node lab/newcomer.ts [--short] [--no-build]
//   --short     the quick start, and the template minimal with npm
//   --no-build  packs the present dist/ of Portico

const GOAL_SECONDS = 60;
const GOAL_WITHOUT_INSTALL = 5;
const root = join(import.meta.dirname, "..");
const isShort = process.argv.includes("--short");
const apiName = `newcomer-${randomBytes(4).toString("hex")}`;
const place = mkdtempSync(join(tmpdir(), "newcomer-"));

const minimal: Journey = { name: "minimal", template: "minimal", source: "app.ts" };
const page = readFileSync(join(root, "docs/guide/quick-start.md"), "utf8");
const quickStart: Journey = { ...minimal, name: "quick start", page };
const journeys: readonly Journey[] = [
  quickStart,
  minimal,
  { ...minimal, name: "minimal after npm init", isInitialised: true },
  { name: "api", folder: apiName, template: "api", source: "src/app.ts" },
  { name: "existing Fastify", template: "existing", files: fastifyApplication },
  { name: "existing Express", template: "existing", files: expressApplication },
  { ...minimal, name: "minimal with pnpm", packageManager: "pnpm" },
  { ...minimal, name: "minimal with yarn", packageManager: "yarn" },
];

const totals: string[] = [];
const executablePath = process.env["PORTICO_CHROMIUM"] ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const tools = join(place, "tools");
  mkdirSync(tools);
  if (!process.argv.includes("--no-build")) await run(root, terminal(), "npm", "run", "build");
  const packed = { portico: await pack(root), createPortico: await pack(join(root, "packages/create-portico")) };
  if (!isShort) await run(tools, terminal(), "npm", "install", "--no-save", "pnpm", "@yarnpkg/cli-dist");
  const path = `${join(tools, "node_modules/.bin")}${delimiter}${process.env["PATH"]}`;

  for (const journey of isShort ? [quickStart, minimal] : journeys) {
    const servers = journey.template === "api" ? await openServers(apiName) : null;
    try {
      const env = { PATH: path, ...servers?.env };
      const { all, withoutInstall } = await travel(journey, { place, browser, packed, env });
      totals.push(`${journey.name}: ${all.toFixed(1)} s, ${withoutInstall.toFixed(1)} s without the installation`);
    } finally {
      await servers?.close();
    }
  }
} finally {
  await browser.close();
  rmSync(place, { recursive: true, force: true });
}
for (const total of totals) console.log(total);
console.log(`the goal on an idle machine: ${GOAL_SECONDS} s, ${GOAL_WITHOUT_INSTALL} s without the installation`);
console.log(`newcomer: ${totals.length} journeys, the first one ${totals[0]}`);

/** Packs a package and returns the path of the tarball. */
async function pack(folder: string): Promise<string> {
  const output = await run(
    folder,
    terminal(),
    "npm",
    "pack",
    "--json",
    "--loglevel=error",
    "--pack-destination",
    place,
  );
  const file = /"filename": "(?<file>[^"]+)"/.exec(output)?.groups?.["file"] ?? "";
  return join(place, file);
}
