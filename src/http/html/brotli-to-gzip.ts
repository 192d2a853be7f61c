import { promisify } from "node:util";
import { brotliDecompress, gzip } from "node:zlib";

/**
 * Compresses a file that the package stores as Brotli for clients that only accept gzip, such as browsers on plain HTTP.
 * It costs a few hundred milliseconds on a thread of the pool, so callers keep the result.
 */
export async function brotliToGzip(brotli: Buffer): Promise<Buffer> {
  return promisify(gzip)(await promisify(brotliDecompress)(brotli));
}
