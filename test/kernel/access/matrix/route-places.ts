import { Router } from "portico";
import { SocketRefused, type TestResponse } from "portico/testing";
import { z } from "zod";
import { every, type Form, OPEN, SIGNED_IN } from "./forms.ts";
import { type Owner, statusOf } from "./model.ts";
import type { Guard, Place, Seen, Sight, Site, View, Visit } from "./place.ts";

/** The handler of every guarded route. */
const reveal =
  ({ probe }: Site) =>
  ({ path }: { readonly path: unknown }) =>
    probe.reveal((path as { readonly owner: "mine" }).owner);

function seenIn(response: TestResponse, shown: (body: unknown) => unknown = () => "value"): Seen {
  const body = response.json() as { readonly code?: string };
  return {
    shown: response.status === 200 ? shown(body) : `${response.status} ${body.code}`,
    text: JSON.stringify(response.headers) + response.text(),
  };
}

export const refused = (code: string): Sight => ({ shown: `${statusOf(code)} ${code.toLowerCase()}`, revealed: [] });

export const revealed = (owner: Owner): Sight => ({ shown: "value", revealed: [owner] });

function expectedValue({ verdict, owner }: View): Sight {
  const found = verdict(owner);
  return found.is === "allowed" ? revealed(owner) : refused(found.code);
}

export const get =
  (path: string, shown?: (body: unknown) => unknown) =>
  async ({ client, inject, transport, identity: { headers }, owner }: Visit): Promise<Seen> =>
    seenIn(await (transport === "http" ? client : inject).get(`${path}/${owner}`, { headers }), shown);

async function connect({ client, identity: { headers }, owner }: Visit, path: string): Promise<Seen> {
  try {
    const socket = await client.socket(`${path}/${owner}`, { headers });
    const text = await socket.next();
    await socket.closed;
    return { shown: "value", text };
  } catch (error) {
    if (error instanceof SocketRefused) return seenIn(error.response);
    throw error;
  }
}

function routePlace(
  name: string,
  path: string,
  declare: Place["declare"],
  inEffect?: (form: Form) => Form,
  drops = false,
): Place {
  return {
    name,
    drops,
    hasObject: false,
    transports: ["inject", "http"],
    declare,
    visit: get(path),
    expected: expectedValue,
    ...(inEffect === undefined ? {} : { inEffect }),
  };
}

function socketPlace(name: string, path: string, declare: (site: Site, guard: Guard, handler: never) => void): Place {
  return {
    name,
    hasObject: false,
    transports: ["upgrade"],
    declare(site, guard) {
      const handler = ({
        path: { owner },
        socket,
      }: {
        path: { owner: "mine" };
        socket: { send(text: string): void };
      }): void => socket.send(site.probe.reveal(owner));
      declare(site, guard, handler as never);
    },
    visit: (visit) => connect(visit, path),
    expected: expectedValue,
  };
}

/** A schema that returns another form of the owner than was sent. */
const path = z.object({ owner: z.string().toLowerCase() });
const inCapitals = (visit: Visit): Visit => ({ ...visit, owner: visit.owner.toUpperCase() as Owner });

export const routePlaces: readonly Place[] = [
  routePlace("route", "/route", (site, { gate }) => site.app.get("/route/:owner", { ...gate }, reveal(site))),
  routePlace("route in a gated router", "/router", (site, { gate }) =>
    site.app.mount("/router", new Router({ ...gate }).get("/:owner", reveal(site))),
  ),
  routePlace("route in a router in a gated router", "/outer/inner", (site, { gate }) =>
    site.app.mount("/outer", new Router({ ...gate }).mount("/inner", new Router().get("/:owner", reveal(site)))),
  ),
  routePlace(
    "route with auth: true in a gated router",
    "/both",
    (site, { gate }) => site.app.mount("/both", new Router({ ...gate }).get("/:owner", { auth: true }, reveal(site))),
    (form) => every(form, SIGNED_IN),
  ),
  routePlace(
    "route with auth: false in a gated router",
    "/opened",
    (site, { gate, open }) =>
      site.app.mount("/opened", new Router({ ...gate }).get("/:owner", { ...open } as never, reveal(site))),
    () => OPEN,
    true,
  ),
  routePlace(
    "route that drops the gate of its own router, in a gated router",
    "/kept/inner",
    (site, { gate, open }) => {
      const inner = new Router({ auth: true }).get("/:owner", { ...open } as never, reveal(site));
      site.app.mount("/kept", new Router({ ...gate }).mount("/inner", inner));
    },
  ),
  {
    ...routePlace("route with a path schema", "/parsed", (site, { gate }) =>
      site.app.get("/parsed/:owner", { ...gate, path }, reveal(site)),
    ),
    visit: (visit) => get("/parsed")(inCapitals(visit)),
  },
  {
    ...socketPlace("socket with a path schema", "/parsed-socket", ({ app }, { gate }, handler) =>
      app.socket("/parsed-socket/:owner", { ...gate, path }, handler),
    ),
    visit: (visit) => connect(inCapitals(visit), "/parsed-socket"),
  },
  socketPlace("socket", "/socket", ({ app }, { gate }, handler) => app.socket("/socket/:owner", { ...gate }, handler)),
  socketPlace("socket in a gated router", "/sockets", ({ app }, { gate }, handler) =>
    app.mount("/sockets", new Router({ ...gate }).socket("/:owner", handler)),
  ),
];
