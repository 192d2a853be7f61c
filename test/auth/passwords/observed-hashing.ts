import { createRequire, syncBuiltinESMExports } from "node:module";

const require = createRequire(import.meta.url);

/** Records the calls of the hashing libraries: their order and maximum concurrency. */
export interface ObservedHashing {
  /** `argon2.hash`, `argon2.verify`, `bcrypt.verify`, `crypto.scrypt`, `crypto.pbkdf2`. */
  readonly calls: string[];
  /** The texts that came with them: stored hashes among them. */
  readonly texts: string[];
  most: number;
  stop(): void;
}

type Call = (...args: unknown[]) => unknown;

/** Stands between Portico and the libraries, and lets everything through. */
export function observeHashing(): ObservedHashing {
  let running = 0;
  const restore: (() => void)[] = [];
  const observed: ObservedHashing = {
    calls: [],
    texts: [],
    most: 0,
    stop() {
      for (const undo of restore) undo();
      syncBuiltinESMExports();
    },
  };
  const begin = (name: string, args: readonly unknown[]): void => {
    observed.calls.push(name);
    observed.texts.push(...args.filter((value) => typeof value === "string"));
    observed.most = Math.max(observed.most, ++running);
  };
  const replace = (owner: Record<string, Call>, method: string, wrap: (inner: Call) => Call): void => {
    const inner = owner[method] as Call;
    owner[method] = wrap(inner);
    restore.push(() => {
      owner[method] = inner;
    });
  };
  const promised =
    (name: string) =>
    (inner: Call) =>
    async (...args: unknown[]) => {
      begin(name, args);
      try {
        return await inner(...args);
      } finally {
        running--;
      }
    };
  const calledBack =
    (name: string) =>
    (inner: Call) =>
    (...args: unknown[]) => {
      begin(name, args);
      const done = args.at(-1) as Call;
      return inner(...args.slice(0, -1), (...results: unknown[]) => {
        running--;
        done(...results);
      });
    };
  const [argon2, bcrypt, crypto] = ["@node-rs/argon2", "@node-rs/bcrypt", "node:crypto"].map(
    (name) => require(name) as Record<string, Call>,
  ) as [Record<string, Call>, Record<string, Call>, Record<string, Call>];
  replace(argon2, "hash", promised("argon2.hash"));
  replace(argon2, "verify", promised("argon2.verify"));
  replace(bcrypt, "verify", promised("bcrypt.verify"));
  replace(crypto, "scrypt", calledBack("crypto.scrypt"));
  replace(crypto, "pbkdf2", calledBack("crypto.pbkdf2"));
  syncBuiltinESMExports();
  return observed;
}
