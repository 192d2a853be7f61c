import type { PorticoApp } from "portico";

/** Makes an application use Fastify's router and hooks, as with a plugin. */
export function throughFastify(app: PorticoApp): PorticoApp {
  app.engine.addHook("onRequest", async () => {});
  return app;
}

/** The two ways in which a request reaches its route. */
export const ROUTINGS: readonly (readonly [name: string, route: (app: PorticoApp) => PorticoApp])[] = [
  ["directly", (app) => app],
  ["through Fastify", throughFastify],
];
