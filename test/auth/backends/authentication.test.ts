import { AnonymousUser, PorticoApp } from "portico";
import {
  AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  SimpleUser,
  type UserModel,
  useAuth,
} from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it, vi } from "vitest";
import { overBoth } from "../../matrix.ts";
import { HeaderBackend } from "./recording-backend.ts";

const quiet = { logger: false } as const;
const guarded = (
  backend: AuthenticationBackend | readonly AuthenticationBackend[],
  userModel: UserModel<SimpleUser> = SimpleUser,
): PorticoApp =>
  new PorticoApp(quiet)
    .use(new AuthenticationMiddleware({ userModel, backend }))
    .get("/open", ({ user, request }) => ({
      who: user.identity,
      auth: request.scope.auth,
      anonymous: user instanceof AnonymousUser,
    }))
    .get("/gated", { auth: useAuth() }, ({ user }) => user.identity)
    .get("/either", { auth: useAuth({ required: false }) }, ({ user }) => ({
      anonymous: user instanceof AnonymousUser,
    }));

describe("AuthenticationMiddleware", () => {
  it("[ATH-01] resolves the caller once per request, however often it is read", async () => {
    const backend = new HeaderBackend();
    const app = new PorticoApp(quiet)
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend }))
      .get("/", { auth: useAuth() }, ({ user, request, ctx }) => [
        user.identity,
        request.user.identity,
        ctx.user.identity,
        request.scope.user.identity,
      ]);

    const answer = await testClient(app).get("/", { headers: { "x-jwt": "7" } });

    expect(answer.json()).toEqual(["7", "7", "7", "7"]);
    expect(backend.asked).toEqual(["jwt"]);
  });

  it("[ATH-02] [CBK-05] takes one backend or a list of them", async () => {
    const alone = await testClient(guarded(new HeaderBackend())).get("/gated", { headers: { "x-jwt": "7" } });
    const listed = await testClient(guarded([new HeaderBackend("session"), new HeaderBackend()])).get("/gated", {
      headers: { "x-jwt": "7" },
    });

    expect([alone.json(), listed.json()]).toEqual(["7", "7"]);
  });

  it("[ATH-03] [CBK-03] tries the backends in order, and continues when one declines", async () => {
    const asked: string[] = [];
    const backends = (["apikey", "session", "jwt"] as const).map((scope) => new HeaderBackend(scope, asked));

    const answer = await testClient(guarded(backends)).get("/open", { headers: { "x-jwt": "7" } });

    expect(asked).toEqual(["apikey", "session", "jwt"]);
    expect(answer.json()).toEqual({ who: "7", auth: "jwt", anonymous: false });
  });

  it("[ATH-04] stops at the first success", async () => {
    const asked: string[] = [];

    const answer = await testClient(
      guarded([new HeaderBackend("jwt", asked), new HeaderBackend("session", asked)]),
    ).get("/open", {
      headers: { "x-jwt": "7", "x-session": "8" },
    });

    expect(asked).toEqual(["jwt"]);
    expect(answer.json()).toMatchObject({ who: "7", auth: "jwt" });
  });

  it("[ATH-05] [CBK-02] calls loadUser with the identity of the result", async () => {
    const loadUser = vi.fn<(identity: string) => Promise<SimpleUser>>(async (identity) => new SimpleUser(identity));

    await testClient(guarded(new HeaderBackend(), { loadUser })).get("/open", { headers: { "x-jwt": "7" } });

    expect(loadUser.mock.calls).toEqual([["7"]]);
  });

  it("[ATH-06] [ATH-07] stores the loaded user and the scope where they are read", async () => {
    const loaded = new SimpleUser("ann");
    const seen: unknown[] = [];
    const app = new PorticoApp(quiet)
      .use(new AuthenticationMiddleware({ userModel: { loadUser: async () => loaded }, backend: new HeaderBackend() }))
      .get(
        "/",
        ({ request, user, ctx }) =>
          void seen.push(request.scope.user, request.user, user, ctx.user, request.scope.auth),
      );

    await testClient(app).get("/", { headers: { "x-jwt": "7" } });

    expect(seen.at(-1)).toBe("jwt");
    expect(seen.slice(0, -1).map((user) => user === loaded)).toEqual([true, true, true, true]);
  });

  overBoth(
    "[ATH-08] [ATH-09] [ATH-14] [USR-12] without a credential the caller is an AnonymousUser without a scope, and an ungated route runs",
    () => guarded(new HeaderBackend()),
    async (client) => {
      const answer = await client.get("/open");

      expect([answer.status, answer.json()]).toEqual([200, { who: "", auth: null, anonymous: true }]);
    },
  );

  it("[ATH-10] never rejects: an unknown user, an empty identity and a failing model leave the caller anonymous", async () => {
    const log = logCatcher();
    const models: UserModel<SimpleUser>[] = [
      { loadUser: async () => null },
      SimpleUser,
      {
        loadUser: async () => {
          throw new Error("no database");
        },
      },
    ];
    const apps = models.map((userModel) =>
      new PorticoApp({ logger: log })
        .use(new AuthenticationMiddleware({ userModel, backend: new HeaderBackend() }))
        .get("/", ({ user }) => user instanceof AnonymousUser),
    );

    const answers = await Promise.all(
      apps.map((app, index) => testClient(app).get("/", { headers: { "x-jwt": index === 1 ? "" : "7" } })),
    );

    expect(answers.map((answer) => [answer.status, answer.json()])).toEqual([
      [200, true],
      [200, true],
      [200, true],
    ]);
  });

  it("[USR-09] calls loadUser with a string, whatever the backend returned", async () => {
    const loadUser = vi.fn<(identity: string) => Promise<SimpleUser>>(async (identity) => new SimpleUser(identity));
    class Numbers extends HeaderBackend {
      override async authenticate(): Promise<AuthResult> {
        return AuthResult.accept(7 as unknown as string, "jwt");
      }
    }

    await testClient(guarded(new Numbers(), { loadUser })).get("/open");

    expect(loadUser.mock.calls).toEqual([["7"]]);
  });

  it("[ATH-16] continues with the next backend when one fails, and rejects nothing", async () => {
    const app = guarded([new HeaderBackend("session"), new HeaderBackend("jwt")]);

    const [second, none] = [
      await testClient(app).get("/open", { headers: { "x-session": "!", "x-jwt": "7" } }),
      await testClient(app).get("/open", { headers: { "x-session": "!" } }),
    ];

    expect(second.json()).toMatchObject({ who: "7", auth: "jwt" });
    expect([none.status, none.json()]).toEqual([200, { who: "", auth: null, anonymous: true }]);
  });

  overBoth(
    "[ATH-17] a required gate says 503 with Retry-After when a carried credential could not be looked at, 401 without one",
    () => guarded(new HeaderBackend("session")),
    async (client) => {
      const [unknown, nobody] = [
        await client.get("/gated", { headers: { "x-session": "!" } }),
        await client.get("/gated"),
      ];

      expect([unknown.status, unknown.headers["retry-after"], nobody.status]).toEqual([503, "5", 401]);
      expect(unknown.json()).toMatchObject({ code: "service_unavailable" });
    },
  );

  it("[ATH-18] leaves the caller anonymous in that state, and a route without a required gate runs", async () => {
    const answer = await testClient(guarded(new HeaderBackend("session"))).get("/either", {
      headers: { "x-session": "!" },
    });

    expect([answer.status, answer.json()]).toEqual([200, { anonymous: true }]);
  });

  it("[CBK-06] assumes that a failed backend had a credential, unless carries says otherwise", async () => {
    class Failing extends AuthenticationBackend {
      readonly scope = "jwt";
      readonly says: boolean | undefined;
      constructor(says?: boolean) {
        super();
        this.says = says;
      }
      override carries(): boolean {
        return this.says ?? super.carries(undefined as never);
      }
      async authenticate(): Promise<AuthResult> {
        throw new Error("down");
      }
    }

    const answers = await Promise.all(
      [undefined, true, false].map((says) => testClient(guarded(new Failing(says))).get("/gated")),
    );

    expect(answers.map(({ status }) => status)).toEqual([503, 503, 401]);
  });

  it.each([
    ["no model", { backend: [] }, "AuthenticationMiddleware.userModel is missing"],
    [
      "a model without loadUser",
      { userModel: {}, backend: [] },
      "AuthenticationMiddleware.userModel must be a user model with loadUser(identity)",
    ],
    ["no backend", { userModel: SimpleUser }, "AuthenticationMiddleware.backend is missing"],
    [
      "an invalid backend",
      { userModel: SimpleUser, backend: [{}] },
      "AuthenticationMiddleware.backend must be an AuthenticationBackend",
    ],
    ["a misspelt option", { userModel: SimpleUser, backends: [] }, 'Did you mean "backend"?'],
  ])("rejects %s when it is created", (_title, options, message) => {
    expect(() => new AuthenticationMiddleware(options as never)).toThrow(message);
  });
});
