import { fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type Report, runGauntlet } from "../packages/graphql-gauntlet/src/index.ts";
import type { GauntletResults } from "./figures/gauntlet-tables.ts";

// npm run gauntlet:peers: runs graphql-gauntlet against Portico and other servers, each as its quick start sets it up and in
// production mode, and writes lab/bench/results/gauntlet.json. Needs npm ci --prefix lab/bench/peers. npm run figures copies the
// results to the page. A row that Portico fails makes the run fail. With --short, only Portico runs, and nothing is written.

const PEERS: readonly { readonly name: string; readonly script: string; readonly package?: string }[] = [
  { name: "Portico", script: "graphql/portico-server.ts" },
  { name: "Apollo Server", script: "peers/apollo.js", package: "@apollo/server" },
  { name: "graphql-http", script: "peers/graphql-http.js", package: "graphql-http" },
  { name: "Mercurius", script: "peers/mercurius.js", package: "mercurius" },
  { name: "Yoga", script: "peers/yoga.js", package: "graphql-yoga" },
];
/** graphql-http and a plain server of Portico serve any path or this one. Apollo's standalone server uses the root. */
const PATHS: Readonly<Record<string, string>> = { "Apollo Server": "/" };

const isShort = process.argv.includes("--short");
const servers: GauntletResults["servers"][number][] = [];
for (const peer of isShort ? PEERS.slice(0, 1) : PEERS) {
  const report = await reportOf(peer.script, PATHS[peer.name] ?? "/graphql");
  servers.push({
    name: peer.name,
    version: versionOf(peer.package),
    outcomes: Object.fromEntries(report.results.map(({ row, outcome }) => [row.id, outcome])),
  });
  console.log(`\n${peer.name} ${versionOf(peer.package)}`);
  for (const { row, outcome, note } of report.results)
    if (outcome === "failed" || outcome === "advice")
      console.log(`${outcome.padEnd(6)} ${row.id} ${row.title}: ${note}`);
}
const results: GauntletResults = { node: process.version, day: new Date().toISOString().slice(0, 10), servers };
if (!isShort) {
  writeFileSync("lab/bench/results/gauntlet.json", `${JSON.stringify(results, null, 2)}\n`);
  console.log('\nwritten to lab/bench/results/gauntlet.json; run "npm run figures" to update the documentation');
}
const failed = servers.map(
  ({ name, outcomes }) => `${name} ${Object.values(outcomes).filter((outcome) => outcome === "failed").length}`,
);
console.log(`gauntlet: failed rows of ${Object.keys(servers[0]?.outcomes ?? {}).length}: ${failed.join(", ")}`);
if (Object.values(servers[0]?.outcomes ?? {}).includes("failed")) process.exitCode = 1;

/** Starts a server in its own process, as in production. */
async function reportOf(script: string, path: string): Promise<Report> {
  const child = fork(new URL(`./bench/${script}`, import.meta.url), [], {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  try {
    const [port] = (await once(child, "message")) as [number];
    return await runGauntlet(`http://127.0.0.1:${port}${path}`);
  } finally {
    child.kill("SIGKILL");
  }
}

function versionOf(name: string | undefined): string {
  const file = name === undefined ? "package.json" : `lab/bench/peers/node_modules/${name}/package.json`;
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}
