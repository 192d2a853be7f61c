import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A directory for the files of one test, gone after it. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "uploads-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** The files left in the directory: by name, and unnamed ones that this process still has open. */
export function leftIn(directory: string): readonly string[] {
  return [...readdirSync(directory), ...openFiles().filter((path) => path.startsWith(directory))];
}

/** Only Linux tells; elsewhere the names have to do. */
function openFiles(): readonly string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      return [];
    }
  });
}
