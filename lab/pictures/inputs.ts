import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/package/repository.ts";

/** Where the pictures are, relative to the root: `shop-light.webp` and `shop-dark.webp`. */
export const FOLDER: string = "docs/pictures";
/** The fingerprints of the inputs that the pictures were taken with. */
export const RECORD: string = `${FOLDER}/inputs.json`;

export type PictureName = "shop" | "graphiql" | "reference" | "operations" | "editor" | "dev" | "doctor";

/** The files that decide what a picture shows, by its name. If one of them changes, the picture is taken again. */
export const INPUTS: Readonly<Record<PictureName, readonly string[]>> = {
  // The first one, because the others send operations, too.
  operations: ["browser/operations-page/*", "browser/styles/*", "src/observe/operations-page/*"],
  shop: ["examples/bookshop/src/page/*"],
  graphiql: ["scripts/ide/*", "examples/bookshop/src/graph.ts"],
  reference: ["src/openapi/reference-html.ts", "examples/bookshop/src/books/book-routes.ts"],
  editor: ["lab/pictures/editor*"],
  dev: ["lab/pictures/terminal.ts"],
  doctor: ["lab/pictures/terminal.ts"],
};

/** The SHA-256 of the inputs of a picture: names and contents, in order. */
export function fingerprint(name: PictureName): string {
  const hash = createHash("sha256");
  for (const file of globSync([...INPUTS[name]], { cwd: root }).toSorted())
    hash
      .update(`${file}\n`)
      .update(readFileSync(join(root, file)))
      .update("\n");
  return hash.digest("hex").slice(0, 16);
}
