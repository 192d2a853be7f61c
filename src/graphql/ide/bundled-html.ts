import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { crc32, deflateRawSync } from "node:zlib";
import { sourceHash } from "../../http/html/html-headers.ts";
import { jsonElement } from "../../http/html/json-element.ts";
import { explorerHeaders } from "./explorer-headers.ts";
import type { HtmlOptions } from "./html-options.ts";

/** The beginning of the page, as it was built: the explorer with all that it needs. */
export interface ExplorerBundle {
  readonly folder: URL;
  /** The source expression of its script. */
  readonly script: string;
  readonly bytes: number;
  readonly crc32: number;
}

export type Encoding = "br" | "gzip";

/** Where the build puts it, and where it is while Portico itself is worked on. */
const FOLDERS = [new URL("./assets/", import.meta.url), new URL("../../../.cache/ide/", import.meta.url)];
const START = "startExplorer()";

/** What is known of the explorer, without reading it; `null` when it is not there, as in an application that was bundled into one file. */
export async function findExplorer(): Promise<ExplorerBundle | null> {
  for (const folder of FOLDERS) {
    try {
      const about = JSON.parse(await readFile(new URL("explorer.json", folder), "utf8")) as About;
      return { folder, script: `'${about.scriptHash}'`, bytes: about.bytes, crc32: about.crc32 };
    } catch {
      // The next place.
    }
  }
  return null;
}

interface About {
  readonly scriptHash: string;
  readonly bytes: number;
  readonly crc32: number;
}

export function bundledHeaders({ script }: ExplorerBundle): Readonly<Record<string, string>> {
  return explorerHeaders([script, sourceHash(START)], []);
}

/** What follows the explorer in the page. */
export function bundledEnd(options: HtmlOptions): Buffer {
  return Buffer.from(`${jsonElement("options", options)}\n<script>${START}</script>\n</body>\n</html>\n`);
}

/** Changes with anything in the page. */
export function bundledTag({ script }: ExplorerBundle, end: Buffer, encoding: string): string {
  const hash = createHash("sha256").update(script).update(end).digest("hex").slice(0, 16);
  return `"${hash}-${encoding}"`;
}

/** The page, compressed: the explorer as it lies on disk, and the end in the same format. Nothing of it is kept in memory. */
export async function bundledHtml(bundle: ExplorerBundle, end: Buffer, encoding: Encoding): Promise<Buffer> {
  const extension = encoding === "br" ? "br" : "gz";
  const begin = await readFile(new URL(`explorer.html.${extension}`, bundle.folder));
  return Buffer.concat([begin, ...(encoding === "br" ? brotliEnd(end) : gzipEnd(bundle, end))]);
}

/** RFC 1952: the blocks that end the stream, then checksum and length of all that was compressed. */
function gzipEnd(bundle: ExplorerBundle, end: Buffer): readonly Buffer[] {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc32(end, bundle.crc32), 0);
  trailer.writeUInt32LE((bundle.bytes + end.length) % 2 ** 32, 4);
  return [deflateRawSync(end), trailer];
}

/** RFC 7932 section 9.2: meta-blocks that are not compressed, each of up to 64 kB, then the empty last one. */
function brotliEnd(end: Buffer): readonly Buffer[] {
  const blocks: Buffer[] = [];
  for (let start = 0; start < end.length; start += 2 ** 16) {
    const block = end.subarray(start, start + 2 ** 16);
    const header = Buffer.alloc(3);
    // From the lowest bit: not the last (1 bit), a length of 4 nibbles (2), length - 1 (16), not compressed (1).
    header.writeUIntLE(((block.length - 1) << 3) | (1 << 19), 0, 3);
    blocks.push(header, block);
  }
  return [...blocks, Buffer.of(3)];
}
