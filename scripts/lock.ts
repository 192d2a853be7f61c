import { globSync, readFileSync, writeFileSync } from "node:fs";

/** The part of `package-lock.json` that is read and written here. */
export interface Lock {
  packages: Record<string, LockedPackage>;
}

interface LockedPackage {
  version?: string;
  resolved?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

/**
 * Adds the entries that npm leaves out for optional packages it did not fetch: binaries for other platforms, most often.
 * Without them `npm ci` refuses the lock file, and on those platforms it would install a tool without its binary.
 * Answers the places of the added entries.
 */
export function completeLock(lock: Lock): string[] {
  const added: string[] = [];
  for (const [parent, { optionalDependencies = {}, dev }] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      if (isLocked(lock, parent, name) || !/^\d+\.\d+\.\d+/.test(version)) continue;
      const top = `node_modules/${name}`;
      const place = top in lock.packages ? `${parent}/${top}` : top;
      lock.packages[place] = { version, ...platformOf(name), ...(dev === true && { dev }), optional: true };
      added.push(place);
    }
  }
  lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return added;
}

/** The places of packages that name the server they came from: a lock file is good for any registry. */
export function hostsInLock(lock: Lock): string[] {
  return Object.entries(lock.packages).flatMap(([place, { resolved }]) => (resolved === undefined ? [] : [place]));
}

// Node's own lookup: beside the parent, then in each node_modules above it.
function isLocked(lock: Lock, parent: string, name: string): boolean {
  for (let folder = parent; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    if (`${folder}${folder === "" ? "" : "/"}node_modules/${name}` in lock.packages) return true;
    if (folder === "") return false;
  }
}

const systems = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const processors = ["arm", "arm64", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

// Such packages are named after their platform: `@scope/binding-linux-arm64-musl`.
function platformOf(name: string): Pick<LockedPackage, "os" | "cpu" | "libc"> {
  const words = name.split(/[-/]/);
  const among = (known: readonly string[]): string[] => words.filter((word) => known.includes(word));
  const os = among(systems);
  const cpu = among(processors);
  const libc = words.includes("musl") ? ["musl"] : words.includes("gnu") ? ["glibc"] : [];
  return { ...(cpu.length > 0 && { cpu }), ...(libc.length > 0 && { libc }), ...(os.length > 0 && { os }) };
}

if (import.meta.main) {
  const isCheck = process.argv.includes("--check");
  for (const file of [
    "package-lock.json",
    ...globSync("{tools/*,lab/bench/peers,examples/*/before,examples/same-api{,/*}}/package-lock.json"),
  ]) {
    const lock = JSON.parse(readFileSync(file, "utf8")) as Lock;
    const added = completeLock(lock);
    const hosts = hostsInLock(lock);
    if (!isCheck && added.length > 0) writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
    if (isCheck && added.length > 0) console.error(`run "npm run lock": no entry for ${added.join(", ")}`);
    if (hosts.length > 0) console.error(`an address is locked for ${hosts.join(", ")}`);
    console.log(`${file}: ${added.length} entries ${isCheck ? "missing" : "added"}, ${hosts.length} addresses`);
    if (hosts.length > 0 || (isCheck && added.length > 0)) process.exitCode = 1;
  }
}
