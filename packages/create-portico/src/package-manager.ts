import { existsSync } from "node:fs";
import { join } from "node:path";

export const packageManagers = ["npm", "pnpm", "yarn"] as const;
export type PackageManager = (typeof packageManagers)[number];

export function isPackageManager(name: string): name is PackageManager {
  return (packageManagers as readonly string[]).includes(name);
}

/** The package manager of the folder by its lock file, or else the one that runs this command. */
export function currentPackageManager(folder: string, userAgent: string | undefined): PackageManager {
  const locked = packageManagers.find((name) => existsSync(join(folder, LOCK_FILES[name])));
  if (locked !== undefined) return locked;
  const [name = ""] = (userAgent ?? "").split("/");
  return isPackageManager(name) ? name : "npm";
}

const LOCK_FILES = { npm: "package-lock.json", pnpm: "pnpm-lock.yaml", yarn: "yarn.lock" };

/** The command that runs a program of a dependency, such as `npx portico`. */
export function executing(packageManager: PackageManager): string {
  return packageManager === "npm" ? "npx" : packageManager;
}

/** The command that runs a script of `package.json`. */
export function running(packageManager: PackageManager, script: string): string {
  return packageManager === "npm" && script !== "test" ? `npm run ${script}` : `${packageManager} ${script}`;
}

const COMMAND = /npm ci --omit=dev|npm ci|npm run (?<script>\w+)|npm test|npm install|npx(?= )|package-lock\.json/g;

/** Templates are written for npm. Returns the text with the commands and the lock file of another package manager. */
export function forPackageManager(text: string, packageManager: PackageManager): string {
  if (packageManager === "npm") return text;
  const clean = CLEAN_INSTALLS[packageManager];
  return text.replaceAll(COMMAND, (command, script: string | undefined) => {
    if (command === "npm ci --omit=dev") return clean.production;
    if (command === "npm ci") return clean.all;
    if (command === "package-lock.json") return clean.files;
    if (command === "npx") return executing(packageManager);
    return script === undefined ? command.replace("npm", packageManager) : running(packageManager, script);
  });
}

/** For the image and the workflow, in which only npm is installed. */
const CLEAN_INSTALLS = {
  pnpm: {
    all: "npm install --global pnpm && pnpm install --frozen-lockfile",
    production: "npm install --global pnpm && pnpm install --frozen-lockfile --prod",
    files: "pnpm-lock.yaml",
  },
  yarn: {
    all: "npm install --global --force @yarnpkg/cli-dist && yarn install --immutable",
    production: "npm install --global --force @yarnpkg/cli-dist && yarn workspaces focus --production",
    files: "yarn.lock .yarnrc.yml",
  },
};
