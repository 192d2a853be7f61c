import { globSync, readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { reachableDeclarations } from "./bundle/reachable-declarations.ts";

// node ../../scripts/unused-declarations.ts: run in a package, removes the declarations in dist/ that no entry point needs.

type Target = string | { readonly types: string };

const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly exports: Record<string, Target> };
const types = Object.values(exports).flatMap((target) => (typeof target === "string" ? [] : [resolve(target.types)]));
const used = reachableDeclarations(types);
for (const file of globSync("dist/**/*.d.ts")) if (!used.has(resolve(file))) rmSync(file);
