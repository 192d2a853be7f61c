import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { packageFile } from "../core/package-file.ts";

/** Scalar's reference page as one script, compressed. */
export interface ScalarBundle {
  /** A hash of the compressed script. */
  readonly hash: string;
  readonly gzipped: Buffer;
}

/** The place where the build puts the script, and the package it comes from during development. */
const BUILT = "dist/openapi/assets/scalar.js.gz";
const INSTALLED = new URL("../../node_modules/@scalar/api-reference/dist/browser/standalone.js", import.meta.url);

/**
 * Reads the script. Returns `null` if it does not exist, for example in an application that is bundled into one file.
 */
export async function readScalarBundle(): Promise<ScalarBundle | null> {
  const gzipped = (await readIfThere(packageFile(BUILT))) ?? (await compressed(await readIfThere(INSTALLED)));
  if (gzipped === null) return null;
  return { hash: createHash("sha256").update(gzipped).digest("hex").slice(0, 16), gzipped };
}

async function compressed(script: Buffer | null): Promise<Buffer | null> {
  return script === null ? null : promisify(gzip)(script);
}

async function readIfThere(file: URL): Promise<Buffer | null> {
  try {
    return await readFile(file);
  } catch {
    return null;
  }
}
