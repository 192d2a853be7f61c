import { createRequire } from "node:module";
import type * as Argon2 from "@node-rs/argon2";

type Library = { -readonly [Name in "hash" | "verify"]: (typeof Argon2)[Name] } & { cheap?: true };

// Nearly every test of accounts hashes passwords, once for each mutant. The hashes look as usual, and take no time.
const library = createRequire(import.meta.url)("@node-rs/argon2") as Library;
if (library.cheap !== true) {
  const { hash, verify } = library;
  /** The cheap hash that stands behind each text. Others are verified as usual. */
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
