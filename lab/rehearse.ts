import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { type Journey, travel } from "./newcomer/journey.ts";
import { openServers } from "./newcomer/open-servers.ts";
import { expressApplication, fastifyApplication } from "./newcomer/servers.ts";
import { type Environment, run, terminal } from "./newcomer/shell.ts";
import { checkPackage } from "./rehearse/check-package.ts";
import { checkTypes } from "./rehearse/check-types.ts";
import { copyCheckout } from "./rehearse/copy-checkout.ts";
import { measureModules } from "./rehearse/measure.ts";
import { openPages } from "./rehearse/open-pages.ts";
import { plant, plants } from "./rehearse/plants.ts";
import { packages, Registry } from "./rehearse/registry.ts";

// Publishes a copy of the checkout to a registry on this machine, as the release workflow does, and then does what users
// do: npm create portico@latest with each template and package manager, and npm install in the examples. Prints the
// seconds of each step, and the size and the number of the packages that it installed. Needs PostgreSQL, Redis, Chromium,
// and a registry for everything else.
// npm run release:rehearse -- [--short] [--planted]
//   --short    only checks the packages and creates the template minimal with npm
//   --planted  makes three mistakes, one after the other, and fails unless the rehearsal finds each of them

/** What the package of portico may take, in bytes. */
const BUDGET = { unpacked: 6_000_000, tarball: 4_000_000 };
/** What `npm install portico` installs. */
const MAX_PACKAGES = 61;
const root = join(import.meta.dirname, "..");
const isShort = process.argv.includes("--short");
const isPlanted = process.argv.includes("--planted");

const place = mkdtempSync(join(tmpdir(), "rehearsal-"));
const copy = join(place, "checkout");
const tools = join(root, "tools/release/node_modules");
const { version, exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly version: string;
  readonly exports: object;
};
const minimal: Journey = { name: "minimal", template: "minimal", source: "app.ts" };
const journeys: readonly Journey[] = [
  minimal,
  { name: "api", folder: `rehearsal-${randomBytes(4).toString("hex")}`, template: "api", source: "src/app.ts" },
  { name: "existing Fastify", template: "existing", files: fastifyApplication },
  { name: "existing Express", template: "existing", files: expressApplication },
  { ...minimal, name: "minimal with pnpm", packageManager: "pnpm" },
  { ...minimal, name: "minimal with yarn", packageManager: "yarn" },
];
const examples = ["bookshop", "from-express", "from-fastify"];

const executablePath = process.env["PORTICO_CHROMIUM"] ?? "/usr/bin/chromium";
let registry: Registry | undefined;
let browser: Browser | undefined;
try {
  if (!existsSync(join(tools, "verdaccio")))
    await step("install the registry and package managers", () =>
      run(root, terminal(), "npm", "ci", "--prefix", "tools/release", "--no-audit", "--no-fund"),
    );
  await step("copy the checkout", () => copyCheckout(root, copy));
  registry = await Registry.start(place, join(tools, "verdaccio/bin/verdaccio"));
  browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  if (isPlanted) await rehearsePlants(registry, browser);
  else await rehearse(registry, browser);
} finally {
  await browser?.close();
  await registry?.close();
  rmSync(place, { recursive: true, force: true });
}

async function rehearse({ env: own }: Registry, browser: Browser): Promise<void> {
  const added = { ...own, PATH: `${join(tools, ".bin")}${delimiter}${process.env["PATH"]}` };
  const env = terminal(added);
  await step("write the SBOM", () => run(copy, terminal(), "npm", "run", "sbom", "--", join(place, "sbom.cdx.json")));
  await step("build and publish", () => run(copy, env, "npm", "run", "release"));
  await checkInstalled(env, browser);

  for (const journey of isShort ? [minimal] : journeys) {
    const servers = journey.template === "api" ? await openServers(journey.folder ?? "") : null;
    try {
      const { all, folder } = await travel(journey, {
        place,
        browser,
        packed: null,
        env: { ...added, ...servers?.env },
      });
      report(`npm create: ${journey.name}`, all, folder);
    } finally {
      await servers?.close();
    }
  }
  if (!isShort) {
    for (const name of examples) await installInExample(name, env);
    await step("raise the version for the next release", raiseVersion);
  }
  console.log(`rehearsal: ${packages.length} packages of version ${version} can be published and used`);
}

async function rehearsePlants(registry: Registry, browser: Browser): Promise<void> {
  const env = terminal(registry.env);
  await step("build", () => run(copy, terminal(), "npm", "run", "build", "--", "--quick"));
  for (const mistake of plants) {
    registry.forget();
    const remove = plant(copy, mistake);
    await run(copy, env, "node", "scripts/publish.ts");
    remove();
    const found = await checkInstalled(env, browser).then(
      () => null,
      (error: unknown) => String(error).split("\n", 1)[0],
    );
    assert.ok(found, `not found: ${mistake.name}`);
    console.log(`found: ${mistake.name}: ${found}`);
    rmSync(join(place, "installed"), { recursive: true });
  }
  console.log(`rehearsal: ${plants.length} of ${plants.length} planted mistakes were found`);
}

/** Installs the packages into an empty folder and checks them there. */
async function checkInstalled(env: Environment, browser: Browser): Promise<void> {
  const folder = join(place, "installed");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "installed", private: true, type: "module" }));
  const install = (...names: readonly string[]): Promise<string> =>
    run(folder, env, "npm", "install", "--no-audit", "--no-fund", ...names);
  await step("npm install portico", () => install("portico@latest"), folder);
  const { packages: count } = measureModules(folder);
  assert.ok(count <= MAX_PACKAGES, `npm install portico installs ${count} packages`);
  cpSync(join(copy, "scripts/smoke.mjs"), join(folder, "smoke.mjs"));
  await step("serve a request without any peer", () => run(folder, env, "node", "smoke.mjs"));

  const peers = Object.keys(manifestOf(join(folder, "node_modules/portico")).peerDependencies ?? {});
  const companions = packages.filter((name) => name !== "portico");
  const types = ["typescript", "@types/node", "@types/pg"];
  await step("install the peers and other packages", () => install(...companions, ...peers, ...types), folder);
  for (const name of packages) {
    const installed = join(folder, "node_modules", name);
    await checkPackage(installed);
    await checkSize(installed, name, env["npm_config_registry"] ?? "");
  }
  const entryPoints = Object.keys(exports)
    .filter((path) => !path.endsWith(".json"))
    .map((path) => `portico${path.slice(1)}`);
  const imports = entryPoints.map((name) => `await import("${name}");`).join("\n");
  await step("import every entry point", () => run(folder, env, "node", "--input-type=module", "--eval", imports));
  await step("compile with node16 and bundler", () => checkTypes(folder, env, [...entryPoints, "portico-client"]));
  await step("open both pages without a network", () => openPages(folder, env, browser));
}

async function checkSize(folder: string, name: string, registry: string): Promise<void> {
  const { dist } = (await (await fetch(new URL(`${name}/${version}`, registry))).json()) as Published;
  const size = (await (await fetch(dist.tarball)).arrayBuffer()).byteLength;
  const unpackedSize = globSync("**/*", { cwd: folder, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
  console.log(`${name.padEnd(40)} ${megabytes(unpackedSize)} MB unpacked, ${megabytes(size)} MB as a tarball`);
  if (name !== "portico") return;
  assert.ok(unpackedSize < BUDGET.unpacked, `portico has ${unpackedSize} bytes`);
  assert.ok(size < BUDGET.tarball, `the tarball of portico has ${size} bytes`);
}

/** The part of a published package's metadata that is read here. */
interface Published {
  readonly dist: { readonly tarball: string };
}

/** What the workflow does once a changeset has been merged. */
async function raiseVersion(): Promise<void> {
  writeFileSync(
    join(copy, ".changeset/rehearsal.md"),
    '---\n"portico": patch\n---\n\nsql: Rehearse the next release.\n',
  );
  await run(copy, terminal(), "npm", "run", "release:version");
  const folders = ["", ...packages.filter((name) => name !== "portico").map((name) => join("packages", name))];
  const versions = new Set(folders.map((folder) => manifestOf(join(copy, folder)).version));
  const [next = "", ...others] = versions;
  assert.deepEqual(others, [], "the packages have different versions");
  assert.notEqual(next, version);
  const changelog = readFileSync(join(copy, "CHANGELOG.md"), "utf8");
  assert.ok(
    changelog.includes(`## ${next}\n\n### Sql\n\n- Rehearse the next release.\n`),
    "the changelog has no entry",
  );
  assert.ok(existsSync(join(copy, `test/system/releases/portico-${next}.tgz`)), "the release is not kept");
}

async function installInExample(name: string, env: Environment): Promise<void> {
  const folder = join(place, name);
  // The corpus shares its files with the tests of the repository.
  const filter = (source: string): boolean => source !== join(copy, "examples", name, "test/corpus");
  cpSync(join(copy, "examples", name), folder, { recursive: true, filter });
  const file = join(folder, "package.json");
  const own = manifestOf(folder);
  for (const dependencies of [own.dependencies, own.devDependencies])
    for (const local of Object.keys(dependencies ?? {}).filter((found) => dependencies?.[found]?.startsWith("file:")))
      delete dependencies?.[local];
  writeFileSync(file, JSON.stringify(own, null, 2));
  const released = [`portico@${version}`, ...(name === "bookshop" ? [`portico-client@${version}`] : [])];
  await step(
    `npm install in examples/${name}`,
    () => run(folder, env, "npm", "install", "--no-audit", "--no-fund", ...released),
    folder,
  );
  await step(`compile examples/${name}`, () => run(folder, env, "npm", "run", "check"));
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
}

/** Runs a step and prints how long it took, and what is installed in the folder after it. */
async function step(name: string, work: () => Promise<unknown>, folder?: string): Promise<void> {
  const start = performance.now();
  await work();
  report(name, (performance.now() - start) / 1000, folder);
}

function report(name: string, seconds: number, folder?: string): void {
  const installed = folder === undefined ? null : measureModules(folder);
  const size =
    installed === null ? "" : `  ${installed.megabytes.toFixed(1).padStart(6)} MB  ${installed.packages} packages`;
  console.log(`${name.padEnd(40)} ${seconds.toFixed(1).padStart(6)} s${size}`);
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(2);
}
