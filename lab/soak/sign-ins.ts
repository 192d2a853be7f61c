import { GraphSocket } from "./graph-socket.ts";
import { people } from "./soak-settings.ts";
import { type Action, type Ask, type Person, readTokens, type Tokens, type World } from "./world.ts";

/** Visits: a user signs in, does something, and is signed out in one of several ways. Everything that was still open is closed. */
export const signIns: readonly Action[] = [
  {
    name: "session",
    weight: 0.5,
    run: (world) =>
      world.visit(async (visitor) => {
        const headers = await login(world, visitor);
        await world.ask({ path: "/private", headers }, 200);
        const socket = (await new GraphSocket(world, headers).init()).subscribe("1", "subscription { mine }");
        await socket.hear("next");
        await post(world, "/account/logout", {}, headers, 204);
        await socket.expectClosed(4403);
        await world.ask({ path: "/private", headers }, 401);
      }),
  },
  {
    name: "tokens",
    weight: 0.5,
    run: (world) =>
      world.visit(async (visitor) => {
        const first = await signIn(world, visitor);
        const tokens = readTokens(await post(world, "/account/refresh", { refresh_token: first.refresh }, {}, 200));
        await world.ask({ path: "/private", headers: bearer(tokens) }, 200);
        await post(world, "/account/logout", { refresh_token: tokens.refresh }, bearer(tokens), 204);
        await post(world, "/account/refresh", { refresh_token: tokens.refresh }, {}, 401);
      }),
  },
  {
    name: "sign out everywhere",
    weight: 0.4,
    run: (world) =>
      world.visit(async (visitor) => {
        const tokens = await signIn(world, visitor);
        const session = await login(world, visitor);
        const socket = (await new GraphSocket(world).init(bearer(tokens))).subscribe("1", "subscription { mine }");
        await socket.hear("next");
        await post(world, "/account/logout/everywhere", {}, session, 204);
        await socket.expectClosed(4403);
        await world.ask({ path: "/private", headers: bearer(tokens) }, 401);
        await post(world, "/account/logout", { refresh_token: tokens.refresh }, {}, 204);
      }),
  },
  {
    name: "API key",
    weight: 0.4,
    run: (world) =>
      world.visit(async (visitor) => {
        const session = await login(world, visitor);
        const made = await post(world, "/account/keys", { name: "soak", permissions: ["read:notes"] }, session, 201);
        const { id, key } = JSON.parse(made.text) as { readonly id: string; readonly key: string };
        await world.ask({ path: "/private", headers: { "x-api-key": key } }, 200);
        const socket = (await new GraphSocket(world).init({ "x-api-key": key })).subscribe(
          "1",
          "subscription { mine }",
        );
        await socket.hear("next");
        await world.ask({ method: "DELETE", path: `/account/keys/${id}`, headers: session }, 204);
        await socket.expectClosed(4403);
        await post(world, "/account/logout", {}, session, 204);
      }),
  },
];

function post(
  world: World,
  path: string,
  body: object,
  headers: Ask["headers"],
  ...expected: number[]
): ReturnType<World["ask"]> {
  return world.ask({ method: "POST", path, body, ...(headers === undefined ? {} : { headers }) }, ...expected);
}

/** The cookie of a new session. */
async function login(world: World, { name, address }: Person): Promise<{ readonly cookie: string }> {
  const body = { identifier: name, password: people.password };
  const { headers } = await post(world, "/account/login", body, { "x-forwarded-for": address }, 200);
  const cookie = headers["set-cookie"]?.[0]?.split(";")[0];
  if (cookie === undefined) throw new Error("a login without a cookie");
  return { cookie };
}

async function signIn(world: World, { name, address }: Person): Promise<Tokens> {
  const body = { identifier: name, password: people.password };
  return readTokens(await post(world, "/account/token", body, { "x-forwarded-for": address }, 200));
}

function bearer({ access }: Tokens): { readonly authorization: string } {
  return { authorization: `Bearer ${access}` };
}
