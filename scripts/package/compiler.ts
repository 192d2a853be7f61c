import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const PACKAGE = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));

/** The arguments of Node that run the compiler. With several threads it does part of the work in each, and other tests run beside it. */
export const COMPILER: readonly string[] = [join(PACKAGE, "bin", "tsc"), "--singleThreaded"];
