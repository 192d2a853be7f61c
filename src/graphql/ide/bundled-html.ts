import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { packageFile } from "../../core/packages/package-file.ts";
import { sourceHash } from "../../http/html/html-headers.ts";
import { jsonElement } from "../../http/html/json-element.ts";
import { explorerHeaders } from "./explorer-headers.ts";
import type { HtmlOptions } from "./html-options.ts";

/** The prebuilt beginning of the page: the explorer with everything that it needs. */
export interface ExplorerBundle {
  readonly folder: URL;
  /** The hash of its script, as a source expression for the content security policy. */
  readonly script: string;
}

/** The folder of a development checkout, then that of the published package. */
const FOLDERS = [".cache/ide/", "dist/graphql/ide/assets/"];
const START = "startExplorer()";

/** Finds the explorer without reading it; `null` if it is missing, as in an application that is bundled into one file. */
export async function findExplorer(): Promise<ExplorerBundle | null> {
  for (const path of FOLDERS) {
    const folder = packageFile(path);
    try {
      const about = JSON.parse(await readFile(new URL("explorer.json", folder), "utf8")) as About;
      return { folder, script: `'${about.scriptHash}'` };
    } catch {
      // The explorer is not in this folder.
    }
  }
  return null;
}

interface About {
  readonly scriptHash: string;
}

export function bundledHeaders({ script }: ExplorerBundle): Readonly<Record<string, string>> {
  return explorerHeaders([script, sourceHash(START)], []);
}

/** The end of the page, after the explorer. */
export function bundledEnd(options: HtmlOptions): Buffer {
  return Buffer.from(`${jsonElement("options", options)}\n<script>${START}</script>\n</body>\n</html>\n`);
}

/** An entity tag that changes with any part of the page. */
export function bundledTag({ script }: ExplorerBundle, end: Buffer, encoding: string): string {
  const hash = createHash("sha256").update(script).update(end).digest("hex").slice(0, 16);
  return `"${hash}-${encoding}"`;
}

/** The page as Brotli: the explorer as stored on disk, and the end in the same format. */
export async function bundledHtml({ folder }: ExplorerBundle, end: Buffer): Promise<Buffer> {
  return Buffer.concat([await readFile(new URL("explorer.html.br", folder)), ...brotliEnd(end)]);
}

/** RFC 7932 section 9.2: meta-blocks that are not compressed, each of up to 64 kB, then the empty last one. */
function brotliEnd(end: Buffer): readonly Buffer[] {
  const blocks: Buffer[] = [];
  for (let start = 0; start < end.length; start += 2 ** 16) {
    const block = end.subarray(start, start + 2 ** 16);
    const header = Buffer.alloc(3);
    // From the lowest bit: not the last block (1 bit), a length of 4 nibbles (2), length - 1 (16), uncompressed (1).
    header.writeUIntLE(((block.length - 1) << 3) | (1 << 19), 0, 3);
    blocks.push(header, block);
  }
  return [...blocks, Buffer.of(3)];
}
