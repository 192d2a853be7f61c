import findMyWay, { type Config } from "find-my-way";
import type { Method } from "./route.ts";

interface Paths {
  readonly routes: readonly { readonly method: Method; readonly path: string }[];
  readonly sockets: readonly { readonly path: string }[];
}

/** Finds the methods of a path, for 405 and preflights. Fastify does not expose them, so the patterns are stored a second time. */
export function methodFinder(
  { routes, sockets }: Paths,
  config: Pick<Config<never>, "ignoreTrailingSlash" | "maxParamLength">,
): (url: string) => readonly Method[] {
  const router = findMyWay(config);
  const methods = new Set<Method>();
  for (const { method, path } of [...routes, ...sockets.map(({ path }) => ({ method: "GET" as const, path }))]) {
    methods.add(method);
    if (!router.hasRoute(method, path)) router.on(method, path, () => {});
  }
  return (url) => {
    const path = url.split("?", 1)[0] as string;
    return withHead([...methods].filter((method) => router.find(method, path) !== null));
  };
}

/** The names of a path's parameters. Throws for an invalid path. */
export function paramsOf(path: string): readonly string[] {
  const router = findMyWay();
  router.on("GET", path, () => {});
  return (router.findRoute("GET", path) as { readonly params: readonly string[] }).params;
}

/** A GET route also serves HEAD, which no route declares itself. */
export function withHead(methods: readonly Method[]): readonly Method[] {
  return methods.includes("GET") ? [...methods, "HEAD"] : methods;
}
