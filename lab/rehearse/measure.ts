import { existsSync, lstatSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

export interface Measured {
  readonly megabytes: number;
  readonly packages: number;
}

/** The size of an application's `node_modules`, and the number of packages in it. Links are not followed. */
export function measureModules(folder: string): Measured {
  const sum = { bytes: 0, packages: 0 };
  add(join(folder, "node_modules"), sum);
  return { megabytes: sum.bytes / 1e6, packages: sum.packages };
}

function add(folder: string, sum: { bytes: number; packages: number }): void {
  if (!existsSync(folder)) return;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) add(path, sum);
    else if (entry.isFile()) {
      sum.bytes += lstatSync(path).size;
      if (entry.name === "package.json" && isPackage(folder)) sum.packages += 1;
    }
  }
}

/** Whether a folder is that of a package: `node_modules/name` or `node_modules/@scope/name`. */
function isPackage(folder: string): boolean {
  const parent = dirname(folder);
  return basename(parent).startsWith("@")
    ? basename(dirname(parent)) === "node_modules"
    : basename(parent) === "node_modules";
}
