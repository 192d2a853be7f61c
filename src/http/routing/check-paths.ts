import { ConfigurationError } from "../../core/configuration-error.ts";
import { paramsOf } from "./method-finder.ts";

interface Place {
  readonly method: string;
  readonly path: string;
}

/** Checks the paths of an application, including the prefixes of its routers. Throws a `ConfigurationError` that names the route. */
export function checkPaths(routes: readonly Place[], sockets: readonly Pick<Place, "path">[]): void {
  for (const { method, path } of [...routes, ...sockets.map(({ path }) => ({ method: "socket", path }))])
    checkPattern(`${method} ${path}`, path);
  checkTwice(routes);
}

/** Checks a path with the library that matches it. Of a parameter that is declared twice, only the second value would remain. */
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

/** Rejects two routes with one method and path, because the second would never be reached. Parameter names make no difference. */
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
