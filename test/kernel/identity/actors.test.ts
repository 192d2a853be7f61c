import { type BaseContext, ConfigurationError, PorticoApp } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import { actingAs, manualClock, testClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { HeaderBackend } from "../../auth/backends/recording-backend.ts";

afterEach(() => void vi.unstubAllEnvs());

const [ann, ben] = [new SimpleUser("ann"), new SimpleUser("ben")];

describe("the headers of actingAs", () => {
  it("act as their own user, until they expire, however many there are", async () => {
    const clock = manualClock();
    const app = new PorticoApp({ logger: false, clock }).get("/me", ({ user }) => user.identity);
    const me = async (headers: Record<string, string>): Promise<unknown> =>
      (await testClient(app).get("/me", { headers })).json();

    const first = actingAs(app, ann);
    clock.advance(1);
    const second = actingAs(app, ben);
    clock.advance(3_599_999);
    const third = actingAs(app, ann);

    expect([await me(first), await me(second), await me(third), await me({})]).toEqual(["", "ben", "ann", ""]);
    expect(await me({ "x-portico-acting-as": "guessed" })).toBe("");
  });

  it("cannot be made in production", () => {
    vi.stubEnv("NODE_ENV", "production");
    const app = new PorticoApp({ logger: false, publicUrl: "https://shop.example" });

    expect(() => actingAs(app, ann)).toThrow(
      new ConfigurationError(
        "actingAs",
        "must not be used in production: it signs users in without a credential, for tests",
      ),
    );
  });
});

describe("a stand-in for a user that the model does not have", () => {
  function start() {
    const model = { loadUser: async () => null };
    let context: BaseContext | undefined;
    const app = new PorticoApp({ logger: false, publicUrl: "https://shop.example" })
      .use(new AuthenticationMiddleware({ userModel: model, backend: new HeaderBackend("apikey") }))
      .get("/", ({ ctx }) => {
        context = ctx;
      })
      .get("/me", { auth: useAuth() }, ({ user }) => user.identity);
    const client = testClient(app);
    return {
      me: async (name: string) => (await client.get("/me", { headers: { "x-apikey": name } })).status,
      async actors() {
        await client.get("/");
        if (context === undefined) throw new Error("the handler did not run");
        return context.services.actors;
      },
    };
  }

  it("signs in with a real credential, until it is withdrawn", async () => {
    const shop = start();
    const actors = await shop.actors();
    const before = await shop.me("ann");
    const [withdraw] = [actors.standIn(ann), actors.standIn(ben)];
    const during = [await shop.me("ann"), await shop.me("ben"), await shop.me("carl")];
    withdraw();

    expect([before, during, await shop.me("ann"), await shop.me("ben")]).toEqual([401, [200, 200, 401], 401, 200]);
  });

  it("is refused in production, also one from before", async () => {
    const shop = start();
    const actors = await shop.actors();
    actors.standIn(ann);
    vi.stubEnv("NODE_ENV", "production");

    expect(await shop.me("ann")).toBe(401);
    expect(() => actors.standIn(ben)).toThrow(
      new ConfigurationError("portico audit", "must not attack in production: it signs in users who do not exist"),
    );
  });
});
