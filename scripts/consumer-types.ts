import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

// Compiles what an application sees of the package: every door, strict, with the declarations of libraries checked too
// (`skipLibCheck: false`), once with each major of @types/node. Only our own declarations are judged.
// node scripts/consumer-types.ts [dist]

const [dist = "dist"] = process.argv.slice(2);
/** Code of an application whose compiler has fewer checks than ours. */
const CASES = "test/types/fixtures/consumer-cases.ts";
const NODE_TYPES: readonly string[] = ["@types/node", "types-node26"];

const faults = NODE_TYPES.flatMap((nodeTypes) => faultsWith(nodeTypes).map((fault) => `${nodeTypes}: ${fault}`));
for (const fault of faults) console.log(fault);
console.log(
  `consumer types: ${doors().length} doors, ${NODE_TYPES.length} versions of Node's types, ${faults.length} faults`,
);
process.exitCode = faults.length === 0 ? 0 : 1;

function faultsWith(nodeTypes: string): readonly string[] {
  const folder = resolve(".cache", "consumer-types", nodeTypes.replace("/", "-"));
  install(folder, nodeTypes);
  // Of its own: inside the package "portico" is the package itself, and not what is installed.
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", type: "module" }));
  writeFileSync(
    join(folder, "app.ts"),
    doors()
      .map((door, index) => `export * as door${index} from "${door}";\n`)
      .join(""),
  );
  copyFileSync(CASES, join(folder, "cases.ts"));
  writeFileSync(
    join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "ES2024",
        lib: ["ESNext"],
        module: "nodenext",
        types: ["node"],
        strict: true,
        skipLibCheck: false,
        noEmit: true,
        // Else a link would lead back to the Node types of this repository.
        preserveSymlinks: true,
      },
      files: ["app.ts", "cases.ts"],
    }),
  );
  const tsc = resolve("node_modules", ".bin", "tsc");
  const { stdout, error } = spawnSync(tsc, ["-p", folder, "--pretty", "false"], { cwd: folder, encoding: "utf8" });
  if (error !== undefined) throw error;
  // A fault inside a library belongs to its authors. One in the consumer is ours.
  return stdout.split("\n").filter((line) => /^(?:app\.ts|cases\.ts|node_modules\/portico\/|error )/.test(line));
}

/** The package as it is packed, beside what the repository has installed, with the Node types of choice. */
function install(folder: string, nodeTypes: string): void {
  const modules = join(folder, "node_modules");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(modules, "portico"), { recursive: true });
  symlinkSync(resolve("package.json"), join(modules, "portico", "package.json"));
  symlinkSync(resolve(dist), join(modules, "portico", "dist"));
  linkAll(resolve("node_modules"), modules, ["@types", ".bin", ".package-lock.json"]);
  mkdirSync(join(modules, "@types"));
  linkAll(resolve("node_modules", "@types"), join(modules, "@types"), ["node"]);
  symlinkSync(resolve("node_modules", nodeTypes), join(modules, "@types", "node"));
}

function linkAll(from: string, to: string, except: readonly string[]): void {
  for (const name of readdirSync(from).filter((entry) => !except.includes(entry)))
    symlinkSync(join(from, name), join(to, name));
}

function doors(): readonly string[] {
  const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as { readonly exports: object };
  return Object.keys(exports)
    .filter((path) => !path.endsWith(".json"))
    .map((path) => `portico${path.slice(1)}`);
}
