import { type FSWatcher, readdirSync, watch } from "node:fs";
import { basename, extname, join } from "node:path";

/** Waits until an editor has written all files of a change. */
const SETTLE_MS = 50;
/** Files that a running server does not write itself, such as its database. */
const EXTENSIONS = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx", ".json", ".graphql", ".gql"]);
const IGNORED = new Set(["node_modules", "dist", "build", "coverage"]);

/** Watches the source files in directories. It has one watcher for each directory, so that no file is opened. */
export class Changes {
  readonly #watchers = new Map<string, FSWatcher>();
  #changed: string | null = null;
  #timer: NodeJS.Timeout | undefined;
  #waiting: PromiseWithResolvers<string> | null = null;

  constructor(directories: readonly string[]) {
    for (const directory of directories) this.#watch(directory);
  }

  /** Resolves with a changed file, once no further file has changed for a moment. */
  next(): Promise<string> {
    this.#waiting ??= Promise.withResolvers<string>();
    if (this.#changed !== null) this.#settle();
    return this.#waiting.promise;
  }

  /** Drops the changes until now. */
  forget(): void {
    clearTimeout(this.#timer);
    this.#changed = null;
    this.#waiting = null;
  }

  close(): void {
    this.forget();
    for (const watcher of this.#watchers.values()) watcher.close();
  }

  #watch(directory: string): void {
    if (this.#watchers.has(directory)) return;
    try {
      const watcher = watch(directory, (_event, name) => {
        if (name !== null) this.#note(directory, name);
      });
      watcher.on("error", () => this.#drop(directory));
      this.#watchers.set(directory, watcher);
      for (const entry of readdirSync(directory, { withFileTypes: true }))
        if (entry.isDirectory() && !isIgnored(entry.name)) this.#watch(join(directory, entry.name));
    } catch {
      // The directory has vanished, or may not be read.
      this.#drop(directory);
    }
  }

  #drop(directory: string): void {
    this.#watchers.get(directory)?.close();
    this.#watchers.delete(directory);
  }

  #note(directory: string, name: string): void {
    const path = join(directory, name);
    if (isSource(name)) {
      this.#changed = path;
      this.#settle();
    }
    // It may be a new directory, with files in it.
    else if (!isIgnored(name) && extname(name) === "") this.#watch(path);
  }

  #settle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#changed === null || this.#waiting === null) return;
      this.#waiting.resolve(this.#changed);
      this.forget();
    }, SETTLE_MS);
  }
}

function isSource(name: string): boolean {
  return EXTENSIONS.has(extname(name)) || basename(name).startsWith(".env");
}

function isIgnored(name: string): boolean {
  return IGNORED.has(name) || name.startsWith(".");
}
