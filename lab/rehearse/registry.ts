import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { run, Started, terminal } from "../newcomer/shell.ts";

/** The packages that a release publishes. */
export const packages = ["portico", "create-portico", "portico-client", "graphql-gauntlet"] as const;

/** A registry on this machine. It has what was published to it, and passes on everything else from the usual registry. */
export class Registry {
  readonly url: string;
  readonly #folder: string;
  readonly #home: string;
  readonly #server: Started;

  private constructor(url: string, folder: string, server: Started) {
    this.url = url;
    this.#folder = folder;
    this.#server = server;
    this.#home = join(folder, "home");
  }

  /** @param verdaccio the path of its program */
  static async start(folder: string, verdaccio: string): Promise<Registry> {
    const port = await freePort();
    const config = await run(folder, terminal(), "npm", "config", "get", "registry");
    const usual = /^https?:\S+$/m.exec(config)?.[0] ?? "";
    const url = `http://127.0.0.1:${port}/`;
    const home = join(folder, "home");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(folder, "verdaccio.yaml"), configuration(folder, usual));
    // npm sends a token with every package that it publishes. This registry accepts any.
    writeFileSync(join(home, ".npmrc"), `registry=${url}\n//127.0.0.1:${port}/:_authToken=anyone\n`);
    writeFileSync(join(home, ".yarnrc.yml"), `npmRegistryServer: "${url}"\nunsafeHttpWhitelist: ["127.0.0.1"]\n`);
    const server = new Started(folder, terminal(), process.execPath, [
      verdaccio,
      "--config",
      join(folder, "verdaccio.yaml"),
      "--listen",
      `127.0.0.1:${port}`,
    ]);
    await server.until(/http address/);
    return new Registry(url, folder, server);
  }

  /** Variables with which package managers use this registry, with caches of their own. */
  get env(): Readonly<Record<string, string>> {
    return {
      HOME: this.#home,
      npm_config_registry: this.url,
      npm_config_userconfig: join(this.#home, ".npmrc"),
      npm_config_cache: join(this.#folder, "npm-cache"),
      npm_config_update_notifier: "false",
      YARN_NPM_REGISTRY_SERVER: this.url,
      YARN_GLOBAL_FOLDER: join(this.#folder, "yarn"),
      // Yarn does not install a version on the day of its publication, unless it is told to.
      YARN_NPM_MINIMAL_AGE_GATE: "0",
    };
  }

  /** Forgets the packages of a release, so that they can be published again. */
  forget(): void {
    for (const name of packages) rmSync(join(this.#folder, "storage", name), { recursive: true, force: true });
    rmSync(join(this.#folder, "npm-cache"), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await this.#server.end();
  }
}

/** JSON is YAML as well. */
function configuration(folder: string, usual: string): string {
  const own = Object.fromEntries(packages.map((name) => [name, { access: "$all", publish: "$anonymous" }]));
  return JSON.stringify({
    storage: join(folder, "storage"),
    uplinks: { usual: { url: usual, timeout: "120s" } },
    packages: { ...own, "**": { access: "$all", proxy: "usual" } },
    auth: { htpasswd: { file: join(folder, "users"), max_users: -1 } },
    max_body_size: "50mb",
    log: { type: "stdout", format: "pretty", level: "http" },
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("there is no free port");
  return address.port;
}
