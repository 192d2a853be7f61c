import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The `.env` of a directory. The command has loaded it once, at its start. A server that starts later gets the variables as
 * the file has them then. Variables of the shell keep their values.
 */
export class EnvFile {
  readonly #file: string;
  readonly #shell: Environment;

  /** @param env the variables of the command, including those of the file */
  constructor(directory: string, env: Environment) {
    this.#file = join(directory, ".env");
    const loaded = this.#read();
    this.#shell = Object.fromEntries(Object.entries(env).filter(([name, value]) => value !== loaded[name]));
  }

  /** The variables for a server that starts now. */
  variables(): Environment {
    return { ...this.#read(), ...this.#shell };
  }

  #read(): Environment {
    return existsSync(this.#file) ? parseEnv(readFileSync(this.#file, "utf8")) : {};
  }
}
