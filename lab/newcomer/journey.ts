import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { grow, growthsIn } from "../../scripts/docs/grown-file.ts";
import { openGraphiql } from "./open-graphiql.ts";
import { type Environment, run, Started, terminal } from "./shell.ts";
import { Stopwatch } from "./stopwatch.ts";
import { Visitor } from "./visitor.ts";

/** One way from an empty folder to a running API. */
export interface Journey {
  readonly name: string;
  /** The name of its folder, and so of the application. @default made from `name` */
  readonly folder?: string;
  readonly template: "minimal" | "api" | "existing";
  readonly packageManager?: "pnpm" | "yarn";
  /** Whether `npm init -y` runs in the folder first. */
  readonly isInitialised?: boolean;
  /** The files of the application that Portico is added to. */
  readonly files?: Readonly<Record<string, string>>;
  /** A source file whose change restarts the server. */
  readonly source?: string;
  /** A page that lets the source file grow until it shows what the rule does. The journey is the page then, and nothing else. */
  readonly page?: string;
}

export interface Equipment {
  /** An empty folder. */
  readonly place: string;
  /** Open already, as that of a newcomer is. */
  readonly browser: Browser;
  /** The packed packages; `null` to take the newest versions from the registry. */
  readonly packed: { readonly portico: string; readonly createPortico: string } | null;
  /** Variables for all commands, such as the addresses of databases. */
  readonly env: Readonly<Record<string, string>>;
}

export interface Travelled {
  /** Seconds. */
  readonly all: number;
  readonly withoutInstall: number;
  /** The folder of the application. */
  readonly folder: string;
}

const INSTALL = "install";

/** Does what a newcomer does, and returns the seconds in all and those without the installation. */
export async function travel(journey: Journey, { place, browser, packed, env: added }: Equipment): Promise<Travelled> {
  const { name, template, packageManager = "npm", files, isInitialised = false } = journey;
  const watch = new Stopwatch(name);
  const env = terminal({ PORT: "0", ...added });
  const folder = join(place, journey.folder ?? name.replaceAll(/\W+/g, "-").toLowerCase());
  mkdirSync(folder);
  if (isInitialised) await run(folder, env, "npm", "init", "-y");
  for (const [file, text] of Object.entries(files ?? {})) writeFileSync(join(folder, file), text);

  await watch.time("create", () => create(journey, { folder, env, packed }));
  const flagsOfInstall = packageManager === "npm" ? ["--no-audit", "--no-fund"] : [];
  await watch.time(INSTALL, () => run(folder, env, packageManager, "install", ...flagsOfInstall));
  if (template === "existing")
    await watch.time("migrate", () =>
      run(folder, env, "npx", "portico", "migrate", "up", "--database", "sqlite:portico.db"),
    );
  else if (journey.page === undefined) {
    await watch.time("test", () => run(folder, env, packageManager, "test"));
    await watch.time("check the types", () => run(folder, env, packageManager, "run", "check"));
  }

  const server = new Started(folder, env, packageManager, ["run", template === "existing" ? "start" : "dev"]);
  try {
    const host = await watch.time("start", () => server.until(/(http:\/\/127\.0\.0\.1:\d+)$/m));
    const url = template === "existing" ? `${host}/portico` : host;
    const visitor = new Visitor(url);
    const { source, page } = journey;
    if (page !== undefined && source !== undefined) {
      const other = new Visitor(url);
      await watch.time("register and sign in two users", async () => {
        await visitor.register("ada");
        await other.register("bob");
      });
      await watch.time("let the file grow", async () => {
        const path = join(folder, source);
        writeFileSync(path, growthsIn(page).reduce(grow, readFileSync(path, "utf8")));
        const moved = await server.until(/^restarted in \d+ ms.*(http:\/\/127\.0\.0\.1:\d+)$/m);
        for (const user of [visitor, other]) user.url = moved;
      });
      await watch.time("see the rule hold", () => visitor.hideNoteFrom(other));
      return { all: watch.total(), withoutInstall: watch.total(INSTALL), folder };
    }
    await watch.time("register and sign in", () => visitor.register("ann"));
    await watch.time("query and mutate", () => visitor.queryAndMutate());
    await watch.time("page through the list", () => visitor.pageThrough());
    await watch.time("open GraphiQL in a browser", () => openGraphiql(browser, url));
    if (source !== undefined)
      await watch.time("restart after a change", async () => {
        const path = join(folder, source);
        writeFileSync(path, `${readFileSync(path, "utf8")}// changed\n`);
        await server.until(/^restarted in \d+ ms/m);
      });
  } catch (error) {
    throw new Error(`${name} failed. The output of its server:\n${server.output}`, { cause: error });
  } finally {
    await server.end();
  }
  return { all: watch.total(), withoutInstall: watch.total(INSTALL), folder };
}

/** Creates the files of the application. */
async function create(
  { template, packageManager }: Journey,
  { folder, env, packed }: Pick<Equipment, "packed"> & { readonly folder: string; readonly env: Environment },
): Promise<unknown> {
  const flags = [".", "--template", template, "--no-install"];
  if (packed === null)
    return packageManager === undefined
      ? run(folder, env, "npm", "create", "--yes", "portico@latest", "--", ...flags)
      : run(folder, env, packageManager, "create", packageManager === "pnpm" ? "portico@latest" : "portico", ...flags);
  const { portico, createPortico } = packed;
  const from = ["exec", "--yes", `--package=${createPortico}`, "--", "create-portico"];
  return run(folder, env, "npm", ...from, ...flags, "--portico", portico, "--package-manager", packageManager ?? "npm");
}
