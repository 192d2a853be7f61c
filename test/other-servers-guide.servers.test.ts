import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import express, { type RequestHandler } from "express";
import { PorticoApp } from "portico";
import { type AuthenticationBackend, AuthenticationMiddleware, SimpleUser } from "portico/auth";
import { migrate, openDatabase, type PorticoTables, userModel } from "portico/sql";
import { testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { root } from "../scripts/package/repository.ts";
import { compileSnippets, pageSnippets } from "../scripts/snippets/snippets.ts";
import { newPlace, onServer } from "./sql/accounts/databases.ts";

const faults = await compileSnippets("other-servers", pageSnippets("docs/guide/other-servers.md"));
const load = async <M>(file: string): Promise<M> =>
  (await import(pathToFileURL(join(root, ".cache/snippets/other-servers/docs-guide-other-servers", file)).href)) as M;

it("the guide to other servers compiles", () => {
  expect(faults).toEqual([]);
});

/** An application that only accepts the credentials of the backend. */
function appWith(backend: AuthenticationBackend): PorticoApp {
  const app = new PorticoApp({ logger: false });
  app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }));
  return app.get("/me", { auth: true }, async ({ user }) => ({ id: user.identity }));
}

async function withServer(listener: RequestListener, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("a shared sign-in", () => {
  it("takes the user of each request from Express", async () => {
    const { ExpressBackend, signedInByExpress } = await load<{
      readonly ExpressBackend: new () => AuthenticationBackend;
      readonly signedInByExpress: (app: PorticoApp) => RequestHandler;
    }>("express-sign-in.ts");
    const app = appWith(new ExpressBackend());
    const site = express();
    // Stands in for the session middleware and Passport.
    const passport: RequestHandler = (request, _response, next) => {
      const name = request.get("x-test-user");
      if (name !== undefined) Object.assign(request, { user: { id: name } });
      next();
    };
    site.use("/v2", passport, signedInByExpress(app));

    await withServer(site, async (url) => {
      const me = async (name?: string) => fetch(`${url}/v2/me`, { headers: name ? { "x-test-user": name } : {} });
      const users = ["ann", "ben", "ann", "cleo"];

      const responses = await Promise.all(users.map(me));

      expect(await Promise.all(responses.map((response) => response.json()))).toEqual(users.map((id) => ({ id })));
      expect((await me()).status).toBe(401);
    });
    await app.close();
  });

  it("takes the user from a better-auth session", async () => {
    type Session = { readonly user: { id: string }; readonly session: { expiresAt: Date } };
    const { BetterAuthBackend } = await load<{
      readonly BetterAuthBackend: new (
        getSession: (from: { readonly headers: Headers }) => Promise<Session | null>,
      ) => AuthenticationBackend;
    }>("better-auth-backend.ts");
    const getSession = async ({ headers }: { readonly headers: Headers }): Promise<Session | null> => {
      const id = /better-auth\.session_token=(?<id>\w+)/.exec(headers.get("cookie") ?? "")?.groups?.["id"];
      if (id === "broken") throw new Error("the session store is down");
      return id === "ann" ? { user: { id }, session: { expiresAt: new Date(Date.now() + 60_000) } } : null;
    };
    const app = appWith(new BetterAuthBackend(getSession));
    const statusFor = async (cookie: string) => (await testClient(app).get("/me", { headers: { cookie } })).status;

    expect(await statusFor("better-auth.session_token=ann")).toBe(200);
    expect(await statusFor("better-auth.session_token=unknown")).toBe(401);
    expect(await statusFor("better-auth.session_token=broken")).toBe(503);
    expect(await statusFor("theme=dark")).toBe(401);
  });
});

it("a database with a users table keeps it, and Portico's tables are in their own schema", async () => {
  const place = await newPlace("PostgreSQL");
  const schema = decodeURIComponent(place.url).split("search_path=")[1] ?? "";
  await onServer(`create table ${schema}.users (id integer primary key)`);
  await onServer(`create table ${schema}.orders (id text primary key)`);
  await onServer(`insert into ${schema}.orders values ('o1')`);
  await onServer(`create schema ${schema}_portico`);
  const path = encodeURIComponent(`-c search_path=${schema}_portico,${schema}`);
  const url = place.url.replace(/options=.*/, `options=${path}`);
  const database = openDatabase<PorticoTables & { orders: { id: string } }>(url);

  await migrate(database, "up");
  await userModel(database).objects.createUser({ email: "ann@x.example", username: "ann", password: "correct horse" });

  expect(await database.selectFrom("users").select("username").execute()).toEqual([{ username: "ann" }]);
  expect(await database.selectFrom("orders").selectAll().execute()).toEqual([{ id: "o1" }]);
  expect(await onServer(`select * from ${schema}.users`)).toEqual([]);
  await database.destroy();
  await onServer(`drop schema ${schema}_portico cascade`);
  await place.remove();
});
