import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  files: string[];
  exports: Record<string, { types: string; default: string }>;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}

/** A mistake in the package.json of portico that a rehearsal has to find. */
export interface Plant {
  readonly name: string;
  readonly change: (manifest: Manifest) => void;
}

export const plants: readonly Plant[] = [
  {
    name: "a file is missing from `files`",
    change: ({ files }) => files.push("!dist/graphql/ide/assets/explorer.html.br"),
  },
  {
    name: "an entry of `exports` names a file that does not exist",
    change: ({ exports }) => (exports["./sql"] = { types: "./dist/sql/index.d.ts", default: "./dist/sql.js" }),
  },
  {
    name: "a dependency is only a devDependency",
    change: ({ dependencies, devDependencies }) => {
      devDependencies["jose"] = dependencies["jose"] ?? "";
      delete dependencies["jose"];
    },
  },
];

/** Plants a mistake in a copy of the checkout, and returns the function that takes it out again. */
export function plant(copy: string, { change }: Plant): () => void {
  const file = join(copy, "package.json");
  const before = readFileSync(file, "utf8");
  const manifest = JSON.parse(before) as Manifest;
  change(manifest);
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`);
  return () => writeFileSync(file, before);
}
