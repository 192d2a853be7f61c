import { ConfigurationError } from "../../core/configuration-error.ts";
import { paramsOf } from "./method-finder.ts";

interface Place {
  readonly method: string;
  readonly path: string;
}

/** Checks the paths of an application, with the prefixes of its routers. Throws `ConfigurationError` with the route's name. */
export function checkPaths(routes: readonly Place[], sockets: readonly Pick<Place, "path">[]): void {
  for (const { method, path } of [...routes, ...sockets.map(({ path }) => ({ method: "socket", path }))])
    checkPattern(`${method} ${path}`, path);
  checkTwice(routes);
}

/** By the library that matches them. A parameter that comes twice would have the second value alone. */
function checkPattern(owner: string, path: string): void {
  const names = namesIn(owner, path);
  if (names.includes("")) throw new ConfigurationError(owner, "declares a parameter without a name");
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new ConfigurationError(owner, `declares the parameter ${twice} twice`);
}

function namesIn(owner: string, path: string): readonly string[] {
  try {
    return paramsOf(path);
  } catch (error) {
    const { message } = error as Error;
    throw new ConfigurationError(owner, `has an invalid path: ${message}`);
  }
}

/** Two routes of one method and path: the second would never be reached. Names of parameters make no difference. */
function checkTwice(routes: readonly Place[]): void {
  const seen = new Map<string, string>();
  for (const { method, path } of routes) {
    const shape = `${method} ${path.replace(/:\w+/g, ":")}`;
    const other = seen.get(shape);
    if (other !== undefined)
      throw new ConfigurationError(`${method} ${path}`, `is declared twice: ${other} is the same route`);
    seen.set(shape, `${method} ${path}`);
  }
}
