import { parseArgs } from "node:util";
import { UsageError } from "./cannot-create.ts";
import { isPackageManager, type PackageManager, packageManagers } from "./package-manager.ts";
import { isTemplate, type Template, templates } from "./template.ts";

/** The words and flags of the command. For missing ones, it asks the user or has a default. */
export interface Arguments {
  readonly folder: string | undefined;
  readonly template: Template | undefined;
  readonly packageManager: PackageManager | undefined;
  /** A version, tag, URL or tarball of Portico; `undefined` for the version that this package was built for. */
  readonly portico: string | undefined;
  readonly install: boolean;
  readonly yes: boolean;
}

export const USAGE = `Usage: npm create portico@latest [folder] [-- flags]

Creates a Portico application in a folder, or adds Portico to the application in it.

Flags:
  -t, --template <name>         minimal   one file, with SQLite
                                api       PostgreSQL, Redis, tests, Docker and CI
                                existing  adds Portico to a Fastify or Express application
      --package-manager <name>  npm, pnpm or yarn; default: the one that runs this command
      --no-install              don't install the dependencies
      --portico <version>       a version, tag or tarball of Portico; default: the version of this command
  -y, --yes                     ask nothing, use the defaults: the template minimal in the folder my-api
  -h, --help                    print this help
  -v, --version                 print the version
`;

const options = {
  template: { type: "string", short: "t" },
  "package-manager": { type: "string" },
  install: { type: "boolean", default: true },
  portico: { type: "string" },
  yes: { type: "boolean", short: "y", default: false },
  help: { type: "boolean", short: "h", default: false },
  version: { type: "boolean", short: "v", default: false },
} as const;

/** Reads the command line. Throws `UsageError` with the name of the flag or value that is wrong. */
export function readArguments(args: readonly string[]): Arguments | "help" | "version" {
  const { values, positionals } = parse(args);
  if (values.help) return "help";
  if (values.version) return "version";
  const [folder, extra] = positionals;
  if (extra !== undefined) throw new UsageError(`"${extra}" is one argument too many: pass one folder`);
  const { template, "package-manager": packageManager } = values;
  if (template !== undefined && !isTemplate(template)) throw unknown("template", template, templates);
  if (packageManager !== undefined && !isPackageManager(packageManager))
    throw unknown("package manager", packageManager, packageManagers);
  return { folder, template, packageManager, portico: values.portico, install: values.install, yes: values.yes };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true, allowNegative: true });
  } catch (error) {
    // Node's second sentence is about positional arguments, which no flag here looks like.
    throw new UsageError((error as Error).message.split(". ")[0] ?? "", { cause: error });
  }
}

function unknown(kind: string, value: string, known: readonly string[]): UsageError {
  return new UsageError(`"${value}" is not a ${kind}. Choose one of: ${known.join(", ")}`);
}
