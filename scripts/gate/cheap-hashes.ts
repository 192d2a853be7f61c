import { createRequire } from "node:module";
import type * as Argon2 from "@node-rs/argon2";

type Library = { -readonly [Name in "hash" | "verify"]: (typeof Argon2)[Name] } & { cheap?: true };

/**
 * Makes argon2 nearly free in this process, because most tests of accounts hash passwords and few are about the cost. A hash still
 * states the usual cost, so another process can't verify it.
 */
export function cheapHashes(): void {
  const library = createRequire(import.meta.url)("@node-rs/argon2") as Library;
  if (library.cheap === true) return;
  const { hash, verify } = library;
  /** The cheap hash behind each text. Others are verified as usual. */
  const cheap = new Map<string, string>();
  library.cheap = true;
  library.hash = async (password, given, ...others) => {
    const { memoryCost, timeCost, ...options } = given ?? {};
    const made = await hash(password, { ...options, memoryCost: 8, timeCost: 1 }, ...others);
    const text = made.replace("m=8,t=1", `m=${memoryCost},t=${timeCost}`);
    cheap.set(text, made);
    return text;
  };
  library.verify = (text, ...others) => verify(cheap.get(String(text)) ?? text, ...others);
}
