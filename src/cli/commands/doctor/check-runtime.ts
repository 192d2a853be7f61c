import { readFileSync } from "node:fs";
import { environmentFault } from "../../../core/env.ts";
import { packageFile } from "../../../core/packages/package-file.ts";
import { type Finding, failed, ok, warning } from "./finding.ts";

/** Checks the version of Node and NODE_ENV. */
export function checkRuntime(env: Readonly<Record<string, string | undefined>>): readonly Finding[] {
  return [checkNode(process.versions.node), checkEnvironment(env["NODE_ENV"])];
}

function checkNode(version: string): Finding {
  const { engines } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
    readonly engines: { readonly node: string };
  };
  return engines.node.split("||").some((range) => isWithin(version, range.trim()))
    ? ok("node", `Node ${version}`)
    : failed("node", `Node ${version} is not supported. Install a version that fits ${engines.node}`);
}

/** Ranges are written as `^22.13.0` or `>=26.0.0` in the manifest of Portico. */
function isWithin(version: string, range: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = range.replace(/^\D+/, "").split(".").map(Number);
  if (major === leastMajor) return minor >= leastMinor;
  return range.startsWith(">=") && major > leastMajor;
}

function checkEnvironment(value: string | undefined): Finding {
  const fault = environmentFault(value);
  if (fault !== null) return failed("environment", `NODE_ENV ${fault}`);
  return value === undefined || value === ""
    ? warning("environment", "NODE_ENV is not set, so defaults are for development. Set NODE_ENV=production on servers")
    : ok("environment", `NODE_ENV is ${value}`);
}
