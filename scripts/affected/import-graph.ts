import { posix } from "node:path";

/** Which files name which other files in their text, by an import or by any other string. */
export class ImportGraph {
  readonly #texts: ReadonlyMap<string, string>;
  readonly #named = new Map<string, ReadonlySet<string>>();
  readonly #naming = new Map<string, Set<string>>();

  /** Takes the text of every file that can import or name another one, by its path from the root. */
  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts;
    for (const [file, text] of texts) {
      const named = namedFiles(file, text);
      this.#named.set(file, named);
      for (const other of named) this.#naming.set(other, (this.#naming.get(other) ?? new Set<string>()).add(file));
    }
  }

  /** The file, the files that it names, the files that those name, and so on, without the test files. */
  importedBy(file: string): Set<string> {
    return reached(file, (from) => [...(this.#named.get(from) ?? [])].filter((other) => !other.endsWith(".test.ts")));
  }

  /**
   * The file, the files that name it, the files that name those, and so on. A fixture is used by the files in the folder above
   * `fixtures` as well, and by files that only mention its name.
   */
  importersOf(file: string): Set<string> {
    return reached(file, (from) => [...(this.#naming.get(from) ?? []), ...this.#usersOfFixture(from)]);
  }

  #usersOfFixture(file: string): string[] {
    const [, folder] = /^(.*\/)fixtures\//.exec(file) ?? [];
    if (folder === undefined) return [];
    const name = posix.basename(file);
    return [...this.#texts].filter(([user, text]) => isIn(folder, user) || text.includes(name)).map(([user]) => user);
  }
}

/** Paths are written relative to the file in imports, and relative to the root in most other places. */
function namedFiles(file: string, text: string): Set<string> {
  const strings = [...text.matchAll(/["'`]([^"'`\s]+\.[a-z]+)["'`]/g)].map(([, path = ""]) => path);
  return new Set(strings.flatMap((path) => [posix.join(posix.dirname(file), path), posix.normalize(path)]));
}

function isIn(folder: string, file: string): boolean {
  return file.startsWith(folder) && !file.slice(folder.length).includes("/");
}

function reached(start: string, next: (file: string) => readonly string[]): Set<string> {
  const found = new Set([start]);
  // A set also iterates over what is added meanwhile.
  for (const file of found) for (const other of next(file)) found.add(other);
  return found;
}
