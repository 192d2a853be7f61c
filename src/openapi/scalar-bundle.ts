import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { packageFile } from "../core/packages/package-file.ts";
import { brotliToGzip } from "../http/html/brotli-to-gzip.ts";

/** Scalar's reference page as one script, compressed. */
export interface ScalarBundle {
  /** A hash of the compressed script. */
  readonly hash: string;
  readonly brotli: Buffer;
  /** Made from it for the first client that needs it. */
  readonly gzip: () => Promise<Buffer>;
}

/** The place where the build puts the script, and the package it comes from during development. */
const BUILT = "dist/openapi/assets/scalar.js.br";
const INSTALLED = new URL("../../node_modules/@scalar/api-reference/dist/browser/standalone.js", import.meta.url);

/**
 * Reads the script. Returns `null` if it does not exist, for example in an application that is bundled into one file.
 */
export async function readScalarBundle(): Promise<ScalarBundle | null> {
  const brotli = (await readIfThere(packageFile(BUILT))) ?? (await compressed(await readIfThere(INSTALLED)));
  if (brotli === null) return null;
  let gzipped: Promise<Buffer> | undefined;
  return {
    hash: createHash("sha256").update(brotli).digest("hex").slice(0, 16),
    brotli,
    gzip: () => (gzipped ??= brotliToGzip(brotli)),
  };
}

async function compressed(script: Buffer | null): Promise<Buffer | null> {
  if (script === null) return null;
  return promisify(brotliCompress)(script, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

async function readIfThere(file: URL): Promise<Buffer | null> {
  try {
    return await readFile(file);
  } catch {
    return null;
  }
}
