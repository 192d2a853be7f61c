import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The functions that `watchFiles` calls, with absolute paths. */
export interface FileWatcher {
  /** The code reads this file, or checks whether it exists. */
  readonly read: (path: string) => void;
  /** The code lists the entries of this folder, or of folders below it. */
  readonly list: (path: string) => void;
  /** The code starts a process or a thread. The pairs of the environment of an asynchronous process can be changed. */
  readonly spawn: (environment?: string[]) => void;
}

/** Reports the files that the code in this process reads from now on, the folders that it lists, and the processes it starts. */
export function watchFiles(watcher: FileWatcher): void {
  const read = (path: unknown): void => notePath(path, watcher.read);
  const list = (path: unknown): void => notePath(path, watcher.list);
  const listFrom = (_pattern: unknown, options: unknown): void => {
    const cwd = (options as { cwd?: unknown } | null | undefined)?.cwd;
    list(cwd ?? process.cwd());
  };
  const copy = (from: unknown): void => notePath(from, (path) => noteTree(path, watcher));

  for (const module of [fs, fs.promises]) {
    before(module, ["readFileSync", "readFile", "createReadStream", "openSync", "open", "openAsBlob"], read);
    before(module, ["existsSync", "statSync", "stat", "accessSync", "access", "copyFileSync", "copyFile"], read);
    before(module, ["readdirSync", "readdir", "opendirSync", "opendir"], list);
    before(module, ["globSync", "glob"], listFrom);
    before(module, ["cpSync", "cp"], copy);
  }
  before(childProcess, ["spawnSync", "execSync", "execFileSync"], () => watcher.spawn());
  before(childProcess.ChildProcess.prototype, ["spawn"], (options) =>
    watcher.spawn((options as { readonly envPairs?: string[] }).envPairs),
  );
  process.on("worker", () => watcher.spawn());
  syncBuiltinESMExports();
}

/** Calls `note` with the arguments of each call, before the function itself. */
function before(owner: object, names: readonly string[], note: (...args: unknown[]) => void): void {
  const functions = owner as Record<string, unknown>;
  for (const name of names) {
    const original = functions[name];
    if (typeof original !== "function") continue;
    const watched = function (this: unknown, ...args: unknown[]): unknown {
      note(...args);
      return Reflect.apply(original, this, args);
    };
    // Such as the function that util.promisify calls.
    Object.defineProperties(watched, Object.getOwnPropertyDescriptors(original));
    functions[name] = watched;
  }
}

function notePath(path: unknown, note: (path: string) => void): void {
  if (typeof path === "string") note(resolve(path));
  else if (path instanceof URL && path.protocol === "file:") note(fileURLToPath(path));
  else if (path instanceof Uint8Array) note(resolve(Buffer.from(path).toString()));
}

function noteTree(path: string, watcher: FileWatcher): void {
  const entries = fs.existsSync(path) && fs.lstatSync(path).isDirectory() ? fs.readdirSync(path) : null;
  if (entries === null) watcher.read(path);
  else for (const name of entries) noteTree(join(path, name), watcher);
}
