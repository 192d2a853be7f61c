import { HttpException, PorticoApp, type UserProtocol } from "portico";
import {
  AuthenticationFailed,
  AuthenticationMiddleware,
  PermissionDenied,
  SimpleUser,
  type UseAuthOptions,
  useAuth,
} from "portico/auth";
import { type TestClient, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";
import { overBoth } from "../../matrix.ts";
import { HeaderBackend } from "../backends/recording-backend.ts";

/** Signed in as the name in the header of a scope; `reader` may read, `editor` may read and write. */
const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  reader: ["read:books"],
  editor: ["read:books", "write:books"],
};
const userModel = { loadUser: async (name: string) => new SimpleUser(name, PERMISSIONS[name] ?? []) };
const gated = (options?: UseAuthOptions): PorticoApp =>
  new PorticoApp({ logger: false })
    .use(
      new AuthenticationMiddleware({
        userModel,
        backend: [new HeaderBackend("jwt"), new HeaderBackend("session"), new HeaderBackend("apikey")],
      }),
    )
    .get("/", { auth: options === undefined ? useAuth() : useAuth(options) }, ({ user }) => user.identity)
    .get("/open", () => "open");
const statuses = (
  client: TestClient,
  headers: readonly Readonly<Record<string, string>>[],
): Promise<readonly number[]> =>
  Promise.all(headers.map(async (entry) => (await client.get("/", { headers: entry })).status));

const [byToken, bySession, byKey] = [{ "x-jwt": "reader" }, { "x-session": "reader" }, { "x-apikey": "reader" }];

describe("useAuth", () => {
  overBoth(
    "[ATH-11] [USE-05] [USE-06] [ERR-22] without arguments asks for anybody, on its route alone",
    gated,
    async (client) => {
      expect(await statuses(client, [byToken, bySession, byKey, {}])).toEqual([200, 200, 200, 401]);
      expect((await client.get("/open")).status).toBe(200);
    },
  );

  it("[USE-01] [ERR-23] accepts the scopes that it lists, and returns 401 for the others", async () => {
    expect(await statuses(testClient(gated({ scopes: ["jwt"] })), [byToken, bySession, byKey])).toEqual([
      200, 401, 401,
    ]);
  });

  it("[USE-02] accepts any scope by default", async () => {
    expect(await statuses(testClient(gated({})), [byToken, bySession, byKey])).toEqual([200, 200, 200]);
  });

  it("[USE-03] [ERR-24] requires all of its permissions, and returns 403 without one", async () => {
    const client = testClient(gated({ permissions: ["read:books", "write:books"] }));

    expect(await statuses(client, [{ "x-jwt": "editor" }, { "x-jwt": "reader" }, { "x-jwt": "stranger" }, {}])).toEqual(
      [200, 403, 403, 401],
    );
  });

  it("[USE-04] runs the handler with or without a user if the gate is not required", async () => {
    const client = testClient(gated({ required: false }));

    const [signedIn, anonymous] = [await client.get("/", { headers: byToken }), await client.get("/")];

    expect([signedIn.json(), anonymous.json()]).toEqual(["reader", ""]);
  });

  it("[ATH-12] runs after the middleware and before the handler", async () => {
    const order: string[] = [];
    const gate = useAuth();
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel, backend: new HeaderBackend() }))
      .get(
        "/",
        {
          auth: {
            ...gate,
            check(ctx) {
              order.push("gate");
              return gate.check(ctx);
            },
          },
          middleware: [
            async (_ctx, next) => {
              order.push("middleware");
              await next();
            },
          ],
        },
        () => void order.push("handler"),
      );

    await testClient(app).get("/");
    await testClient(app).get("/", { headers: byToken });

    expect(order).toEqual(["middleware", "gate", "middleware", "gate", "handler"]);
  });

  it("[CBK-04] accepts a custom scope if it is listed", async () => {
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel, backend: new HeaderBackend("hmac" as never) }))
      .get("/", { auth: useAuth({ scopes: ["hmac" as never] }) }, () => 1)
      .get("/jwt", { auth: useAuth({ scopes: ["jwt"] }) }, () => 1);
    const headers = { "x-hmac": "reader" };

    expect([
      (await testClient(app).get("/", { headers })).status,
      (await testClient(app).get("/jwt", { headers })).status,
    ]).toEqual([200, 401]);
  });

  it("lists the schemes in WWW-Authenticate", async () => {
    const answer = await testClient(gated()).get("/");

    expect(answer.headers["www-authenticate"]).toBe('JWT realm="test", SESSION realm="test", APIKEY realm="test"');
  });

  it("denies access unless hasPermission returns true", async () => {
    class Odd extends SimpleUser {
      override hasPermission(): boolean {
        return Promise.resolve(true) as unknown as boolean;
      }
    }
    const app = new PorticoApp({ logger: false })
      .use(
        new AuthenticationMiddleware({
          userModel: { loadUser: async (): Promise<UserProtocol> => new Odd("x") },
          backend: new HeaderBackend(),
        }),
      )
      .get("/", { auth: useAuth({ permissions: ["read:books"] }) }, () => "in");

    expect((await testClient(app).get("/", { headers: byToken })).status).toBe(403);
  });

  it("rejects a socket before the upgrade, and accepts the right one", async () => {
    const { liveClient } = await import("portico/testing");
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel, backend: new HeaderBackend() }))
      .socket("/ws", { auth: useAuth({ permissions: ["write:books"] }) }, ({ socket, user }) =>
        socket.send(user.identity),
      );
    const client = await liveClient(app);

    const refused = await Promise.all(
      [{}, byToken].map((headers) =>
        client.socket("/ws", { headers }).catch((error: { response: { status: number } }) => error.response.status),
      ),
    );
    const socket = await client.socket("/ws", { headers: { "x-jwt": "editor" } });

    expect(refused).toEqual([401, 403]);
    expect(await socket.next()).toBe("editor");
    await client.close();
  });

  it.each([
    ["scopes", { scopes: undefined }, "useAuth.scopes must be a list of scopes, received undefined"],
    [
      "permissions",
      { permissions: undefined },
      "useAuth.permissions must be a list of permissions, received undefined",
    ],
    ["a misspelt option", { permisions: ["admin"] }, 'Did you mean "permissions"?'],
    ["an empty permission", { permissions: [""] }, "useAuth.permissions must be a list of permissions"],
  ])("rejects %s that would leave the gate open", (_title, options, message) => {
    expect(() => useAuth(options as never)).toThrow(message);
  });
});

describe("the exceptions of authentication", () => {
  it("[ERR-25] [ERR-26] are exported HTTP exceptions with their status", () => {
    const [failed, denied] = [new AuthenticationFailed(), new PermissionDenied()];

    expect([failed, denied].every((error) => error instanceof HttpException)).toBe(true);
    expect([failed.status, denied.status]).toEqual([401, 403]);
  });

  it("[ERR-27] [ERR-28] are caught and reformatted by addExceptionHandler, which gets request, response and exception", async () => {
    const seen: unknown[] = [];
    const app = gated({ permissions: ["write:books"] })
      .addExceptionHandler(AuthenticationFailed, (request, response, exc) => {
        seen.push(request.method, exc);
        return response.status(418).json({ who: "are you?" });
      })
      .addExceptionHandler(PermissionDenied, (_request, response, exc) =>
        response.status(451).json({ missing: exc.permission }),
      );

    const [failed, denied] = [await testClient(app).get("/"), await testClient(app).get("/", { headers: byToken })];

    expect([failed.status, failed.json()]).toEqual([418, { who: "are you?" }]);
    expect([denied.status, denied.json()]).toEqual([451, { missing: "write:books" }]);
    expect(seen).toEqual(["GET", expect.any(AuthenticationFailed)]);
  });
});
