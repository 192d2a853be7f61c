import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../../scripts/package/repository.ts";
import { copyBookshop, type Edit } from "./copy-bookshop.ts";

/** The result of `portico audit --check --json` for a copy of the bookshop. */
export interface Audited {
  readonly code: number;
  readonly changes: readonly {
    readonly change: string;
    readonly kind: string;
    readonly place: string;
    readonly sentence: string;
  }[];
  readonly warnings: readonly { readonly place: string; readonly sentence: string }[];
  readonly error: string;
}

/** Audits copies of the bookshop, each with one fault, in one process. Compares them with the committed access.md. */
export async function auditCopies(faults: readonly Edit[]): Promise<readonly Audited[]> {
  const folder = join(root, ".cache", `audited-${process.pid}`);
  try {
    const copies = await Promise.all(faults.map((fault, at) => copyBookshop(join(folder, String(at)), [fault])));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [
        "--no-warnings",
        "--import",
        join(root, "examples/bookshop/test/doors.mjs"),
        join(import.meta.dirname, "fixtures/audit-each.ts"),
        ...copies,
      ],
      { cwd: root, env: { PATH: process.env["PATH"] }, maxBuffer: 2 ** 26 },
    );
    return JSON.parse(stdout) as readonly Audited[];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
