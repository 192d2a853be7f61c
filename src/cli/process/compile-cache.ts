import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * The directory that keeps compiled code between runs, which saves a third of the startup time. It is in the nearest
 * `node_modules`, because other users of the machine could write to a shared directory. Without one, nothing is kept.
 */
export function compileCache(cwd: string): string | undefined {
  const modules = join(cwd, "node_modules");
  if (existsSync(modules)) return join(modules, ".cache", "portico");
  return dirname(cwd) === cwd ? undefined : compileCache(dirname(cwd));
}
