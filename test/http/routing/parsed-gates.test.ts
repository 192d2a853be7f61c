import {
  currentContext,
  every,
  type Gate,
  HttpException,
  not,
  PorticoApp,
  type RoutePlace,
  Router,
  type UserProtocol,
} from "portico";
import { SimpleUser, useAuth } from "portico/auth";
import { actingAs, liveClient, logCatcher, SocketRefused, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";

/** A schema that returns another form of its input. */
const slug = z.string().trim().toLowerCase();
const eve = new SimpleUser("eve", ["manage:ACME"]);
const ann = new SimpleUser("ann", ["manage:acme"]);

const quiet = (): PorticoApp => new PorticoApp({ logger: false });

const manages = (user: UserProtocol, { path }: RoutePlace): boolean =>
  user.hasPermission(`manage:${String(path["shop"])}`);
const named: Gate<true> = {
  required: true,
  scopes: [],
  check({ user, request }) {
    if (!user.hasPermission(`manage:${String(request.params["shop"])}`)) throw new HttpException(403, "Not yours");
  },
};

const path = z.object({ shop: slug });

/** Every place of a gate that could see the path or the query in another form than the handler. */
const places: Readonly<Record<string, () => PorticoApp>> = {
  "a route": () => quiet().get("/shops/:shop", { auth: manages, path }, (args) => args.path.shop),
  "a router": () => {
    const shops = new Router({ prefix: "/shops/:shop", auth: manages });
    return quiet().mount(
      "",
      shops.get("", { path }, (args) => args.path.shop),
    );
  },
  "a router around a router": () => {
    const inner = new Router().get("", { path }, (args) => args.path.shop);
    return quiet().mount("", new Router({ prefix: "/shops/:shop", auth: manages }).mount("", inner));
  },
  "a check of the application": () => quiet().get("/shops/:shop", { auth: named, path }, (args) => args.path.shop),
  "a combination": () => quiet().get("/shops/:shop", { auth: every(true, manages), path }, (args) => args.path.shop),
  "the request and the context": () =>
    quiet().get(
      "/shops/:shop",
      {
        auth: (user, { request, ctx }) =>
          user.hasPermission(`manage:${request.params.shop}`) &&
          user.hasPermission(`manage:${(ctx.request.params as { shop: string }).shop}`),
        path,
      },
      (args) => args.path.shop,
    ),
  "an asynchronous schema": () =>
    quiet().get("/shops/:shop", { auth: manages, path: path.refine(async () => true) }, (args) => args.path.shop),
};

describe("a gate that receives the request", () => {
  it.each(Object.entries(places))("decides about the parsed path: %s", async (_name, build) => {
    const client = await liveClient(build());
    onTestFinished(() => client.close());
    const inject = testClient(build());
    const status = async (user: SimpleUser, shop: string): Promise<readonly number[]> =>
      Promise.all([client, inject].map(async (each) => (await each.as(user).get(`/shops/${shop}`)).status));

    expect(await status(eve, "ACME")).toEqual([403, 403]);
    expect(await status(eve, "acme")).toEqual([403, 403]);
    expect(await status(ann, "ACME")).toEqual([200, 200]);
    expect(await status(ann, "%20Acme")).toEqual([200, 200]);
  });

  it("decides about the parsed query", async () => {
    const app = quiet()
      .get(
        "/place",
        { auth: (_user, { query }) => query.name !== "secret", query: z.object({ name: slug }) },
        () => "in",
      )
      .get(
        "/request",
        {
          auth: not((_user, { request }: RoutePlace) => request.query["name"] === "secret"),
          query: z.object({ name: slug }),
        },
        () => "in",
      );
    const client = testClient(app).as(eve);

    for (const place of ["/place", "/request"]) {
      expect((await client.get(`${place}?name=SECRET`)).status).toBe(403);
      expect((await client.get(`${place}?name=secret`)).status).toBe(403);
      expect((await client.get(`${place}?name=other`)).status).toBe(200);
    }
  });

  it("decides about the parsed path and query of a socket, before the upgrade", async () => {
    const app = quiet().socket(
      "/shops/:shop",
      {
        auth: (user, place) => manages(user, place) && place.query.name !== "secret",
        path,
        query: z.object({ name: slug }),
      },
      ({ socket, path: { shop } }) => socket.send(shop),
    );
    const client = await liveClient(app);
    onTestFinished(() => client.close());
    const opened = async (user: SimpleUser, url: string): Promise<string | number> => {
      try {
        return await (await client.socket(url, { headers: actingAs(app, user) })).next();
      } catch (error) {
        if (error instanceof SocketRefused) return error.response.status;
        throw error;
      }
    };

    expect(await opened(eve, "/shops/ACME?name=a")).toBe(403);
    expect(await opened(ann, "/shops/ACME?name=SECRET")).toBe(403);
    expect(await opened(ann, "/shops/ACME?name=a")).toBe("acme");
  });

  it("sees the output of a schema that returns null, and not the values that were sent", async () => {
    const seen: unknown[] = [];
    const app = quiet().get(
      "/shops",
      {
        auth: (_user, { query }) => seen.push(query) > 0,
        query: z.object({ name: z.string() }).transform(() => null),
      },
      ({ query }) => ({ query }),
    );

    expect((await testClient(app).as(eve).get("/shops?name=a")).json()).toEqual({ query: null });
    expect(seen).toEqual([null]);
  });

  it("does not open by a parameter that the schema leaves out", async () => {
    const log = logCatcher();
    const shops = new Router({ prefix: "/shops/:shop", auth: (_user, { path: { shop } }) => shop !== "secret" });
    shops.get("/:id", { path: z.object({ id: z.coerce.number() }) }, ({ path: { id } }) => id);
    const app = new PorticoApp({ logger: log }).mount("", shops);

    expect((await testClient(app).as(eve).get("/shops/secret/1")).status).toBe(403);
    expect(log.text).toContain(
      "a gate reads the path parameter shop, which the path schema of /shops/:shop/:id does not return",
    );
  });

  it("cannot be asked by middleware before the path is parsed", async () => {
    const log = logCatcher();
    const gate = every(manages);
    const app = new PorticoApp({ logger: log })
      .get("/plain/:shop", { middleware: [asking(gate)] }, () => "in")
      .get("/shops/:shop", { middleware: [asking(gate)], path }, () => "in");
    const client = testClient(app).as(eve);

    expect((await client.get("/plain/ACME")).status).toBe(200);
    expect((await client.get("/shops/ACME")).status).toBe(500);
    expect(log.text).toContain("was checked before the path and the query were parsed");
  });
});

describe("a gate that receives the user alone", () => {
  it("cannot read the path or the query by the current context", async () => {
    const log = logCatcher();
    const hasAll = (user: UserProtocol): boolean =>
      user.hasPermission(`manage:${String(currentContext()?.request.params["shop"])}`);
    const app = new PorticoApp({ logger: log })
      .get("/plain/:shop", { auth: hasAll }, () => "in")
      .get("/shops/:shop", { auth: hasAll, path }, () => "in");
    const client = testClient(app).as(eve);

    expect((await client.get("/plain/ACME")).status).toBe(200);
    expect((await client.get("/shops/ACME")).status).toBe(403);
    expect(log.text).toContain("take them from the second parameter");
  });

  it("is asked before the path and the query are parsed, and once", async () => {
    const calls: string[] = [];
    const app = quiet().post(
      "/shops/:shop",
      {
        auth: every(
          (_user, place: RoutePlace) => calls.push(`place ${String(place.path["shop"])}`) > 0,
          async (user) => calls.push("user") > 0 && user.identity !== "eve",
        ),
        path: z.object({ shop: slug.refine((shop) => calls.push("path") > 0 && shop !== "none") }),
        body: z.object({ name: z.string().refine(() => calls.push("body") > 0) }),
      },
      () => "in",
    );
    const post = async (user: SimpleUser | null, url: string): Promise<readonly unknown[]> => {
      calls.length = 0;
      const client = testClient(app);
      const { status } = await (user === null ? client : client.as(user)).post(url, { body: { name: "a" } });
      return [status, ...calls];
    };

    expect(await post(null, "/shops/NONE")).toEqual([401]);
    expect(await post(eve, "/shops/NONE")).toEqual([403, "user"]);
    expect(await post(ann, "/shops/NONE")).toEqual([422, "user", "path"]);
    expect(await post(ann, "/shops/ACME")).toEqual([200, "user", "path", "place acme", "body"]);
  });
});

describe("an anonymous caller", () => {
  const query = z.object({ secretName: z.coerce.number() });
  const gates = {
    "useAuth()": useAuth(),
    "a function of the place": (_user: UserProtocol, { query: sent }: RoutePlace) => sent["secretName"] === 1,
    "a check of the application": named,
    "a combination": every(named, (_user: UserProtocol, _place: RoutePlace) => true),
  };

  it.each(Object.entries(gates))("gets 401 before the errors of a schema: %s", async (_name, auth) => {
    const client = await liveClient(quiet().get("/", { auth: auth as never, query }, () => "in"));
    onTestFinished(() => client.close());
    const response = await client.get("/?secretName=x");

    expect(response.status).toBe(401);
    expect(response.text()).not.toContain("secretName");
  });

  it("gets the errors of a schema where a gate lets anonymous callers in", async () => {
    const fromOffice: Gate<false> = { required: false, scopes: [], check: () => {} };
    const client = testClient(quiet().get("/", { auth: fromOffice, query }, () => "in"));

    expect((await client.get("/?secretName=x")).status).toBe(422);
    expect((await client.get("/?secretName=1")).status).toBe(200);
  });
});

function asking(gate: Gate<boolean, any, never>) {
  return async (ctx: Parameters<Gate["check"]>[0], next: () => Promise<void>): Promise<void> => {
    await gate.check(ctx);
    await next();
  };
}
