import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hostsInLock, type Lock } from "../scripts/lock.ts";
import { filesBelow, read, root } from "../scripts/package/repository.ts";
import { codeOf } from "./docs/markdown.ts";

type Versions = Readonly<Record<string, string>>;

interface Manifest {
  readonly dependencies?: Versions;
  readonly devDependencies?: Versions;
  readonly peerDependencies?: Versions;
  readonly optionalDependencies?: Versions;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly scripts?: Versions;
}

interface LockedPackage extends Manifest {
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
}

// A package that must run a script when it is installed goes in here, with the reason.
const allowedInstallScripts: readonly string[] = [];

const locked = (JSON.parse(read("package-lock.json")) as { packages: Record<string, LockedPackage> }).packages;
const manifest = manifestAt("");
const shipped = reachableFrom(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
const lockFiles = [
  "package-lock.json",
  "lab/bench/peers/package-lock.json",
  "examples/same-api/package-lock.json",
  "examples/same-api/nestjs/package-lock.json",
  "examples/same-api/yoga/package-lock.json",
  "examples/from-nestjs/before/package-lock.json",
  ...(await toolLocks()),
];

describe("the packages that an application installs with Portico", () => {
  it("include the dependencies of dependencies, the peers and the binaries of other platforms", () => {
    expect(shipped).toEqual(
      expect.arrayContaining(["fastify", "pino", "redis", "pg", "@node-rs/argon2-darwin-arm64"].map(placeOf)),
    );
    expect(shipped).not.toContain(placeOf("vitest"));
  });

  it("run no install script, according to the lock file", () => {
    const running = shipped.filter((place) => locked[place]?.hasInstallScript === true);

    expect(running).toEqual(allowedInstallScripts.map(placeOf));
  });

  it("run no install script, according to the installed packages", () => {
    const installed = shipped.filter((place) => existsSync(join(root, place)));

    expect(installed.length).toBeGreaterThan(40);
    expect(installed.filter(runsOnInstall)).toEqual(allowedInstallScripts.map(placeOf));
  });

  it("are locked with a checksum, except for binaries of an optional peer", () => {
    const own = reachableFrom(Object.keys(manifest.dependencies ?? {}));

    expect(own.length).toBeGreaterThan(40);
    expect(own.filter((place) => !locked[place]?.integrity?.startsWith("sha512-"))).toEqual([]);
  });
});

describe("Portico itself", () => {
  it("runs no script in the application that installs it", () => {
    expect(Object.keys(manifest.scripts ?? {}).filter((name) => lifecycle.includes(name))).toEqual([]);
  });
});

describe.each(lockFiles)("%s", (file) => {
  it("names no registry", () => {
    expect(hostsInLock(JSON.parse(read(file)) as Lock)).toEqual([]);
    expect(read(file)).not.toMatch(/"resolved": "(?!\.\.)/);
  });
});

describe("docs/dependencies.md", () => {
  const named = codeOf("docs/dependencies.md").split("\n");

  it.each(["", ...lockFiles.slice(1).map((file) => file.replace("package-lock.json", ""))])(
    "has a row for every dependency in %spackage.json",
    (folder) => {
      const { dependencies, devDependencies, peerDependencies } = manifestAt(folder);
      const names = Object.keys({ ...dependencies, ...devDependencies, ...peerDependencies });

      expect(names).not.toEqual([]);
      expect(names.filter((name) => !named.includes(name))).toEqual([]);
    },
  );
});

const lifecycle = ["preinstall", "install", "postinstall"];

// npm compiles a package that has a binding.gyp, even if it names no script.
function runsOnInstall(place: string): boolean {
  const scripts = Object.keys(manifestAt(`${place}/`).scripts ?? {});
  return scripts.some((name) => lifecycle.includes(name)) || existsSync(join(root, place, "binding.gyp"));
}

function manifestAt(folder: string): Manifest {
  return JSON.parse(read(`${folder}package.json`)) as Manifest;
}

/** The places of these packages in the lock file, and of everything that they install. */
function reachableFrom(names: readonly string[]): readonly string[] {
  const places = new Set<string>();
  const queue = names.map((name) => resolve("", name));
  for (let place = queue.pop(); place !== undefined; place = queue.pop()) {
    const entry = locked[place];
    if (entry === undefined || places.has(place)) continue;
    places.add(place);
    const peers = Object.keys(entry.peerDependencies ?? {});
    const required = peers.filter((name) => entry.peerDependenciesMeta?.[name]?.optional !== true);
    for (const name of [...Object.keys({ ...entry.dependencies, ...entry.optionalDependencies }), ...required])
      queue.push(resolve(place, name));
  }
  return [...places].toSorted();
}

// Node's lookup: in the package's own node_modules, then in each one above it.
function resolve(from: string, name: string): string {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const place = `${folder}${folder === "" ? "" : "/"}node_modules/${name}`;
    if (place in locked || folder === "") return place;
  }
}

function placeOf(name: string): string {
  return `node_modules/${name}`;
}

async function toolLocks(): Promise<readonly string[]> {
  return filesBelow("tools", "package-lock.json");
}
