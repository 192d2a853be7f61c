import { type Credential, PorticoApp, type PorticoRequest } from "portico";
import { AuthenticationBackend, AuthenticationMiddleware, AuthResult, SimpleUser, useAuth } from "portico/auth";
import { manualClock, type TestClient, testClient } from "portico/testing";
import { describe, expect, it } from "vitest";

/** Accepts every request as Ann, with the credential. */
class Fixed extends AuthenticationBackend {
  readonly scope = "session" as const;
  readonly #credential: Credential;

  constructor(credential: Credential) {
    super();
    this.#credential = credential;
  }
  authenticate(_request: PorticoRequest): Promise<AuthResult> {
    return Promise.resolve(AuthResult.accept("ann", this.scope, this.#credential));
  }
}
const clock = manualClock();

function client(
  credential: Credential | null,
  options: Parameters<typeof useAuth>[0] = { required: false },
): TestClient {
  const app = new PorticoApp({ logger: false, clock });
  if (credential !== null)
    app.use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new Fixed(credential) }));
  return testClient(
    app
      .get("/impersonator", ({ ctx }) => ({ impersonator: ctx.impersonator }))
      .get("/json", ({ ctx, response }) => response.text(JSON.stringify(ctx)))
      .get("/gated", { auth: useAuth(options) }, () => "in"),
  );
}

describe("a context", () => {
  it.each([
    ["of an anonymous caller", null, null],
    ["of a user", {}, null],
    ["of an administrator who acts as a user", { impersonator: "root" }, "root"],
  ])("%s names the administrator, if there is one", async (_who, credential, impersonator) => {
    expect((await client(credential).get("/impersonator")).json()).toEqual({ impersonator });
  });

  it("is written to logs without headers and without its query", async () => {
    const common = { kind: "http", method: "GET", path: "/json" };
    const written = async (credential: Credential | null): Promise<unknown> =>
      JSON.parse((await client(credential).get("/json?token=s3cret", { headers: { cookie: "a=s3cret" } })).text());

    expect(await written(null)).toEqual({ ...common, user: "", auth: null });
    expect(await written({})).toEqual({ ...common, user: "ann", auth: "session" });
    expect(await written({ impersonator: "root" })).toEqual({
      ...common,
      user: "ann",
      auth: "session",
      impersonator: "root",
    });
  });
});

describe("a gate", () => {
  it("with freshSeconds looks at the time of the sign-in", async () => {
    const now = clock.now();
    const ask = (credential: Credential): ReturnType<TestClient["get"]> =>
      client(credential, { freshSeconds: 60 }).get("/gated");
    const times = [{ signedInAt: now }, { signedInAt: now - 59_999 }, { signedInAt: now - 60_000 }, {}];

    const answers = await Promise.all(times.map(ask));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 403, 403]);
    expect(answers[2]?.json()).toMatchObject({
      code: "sign_in_again",
      detail: "A recent sign-in is required. Sign in again.",
    });
  });

  it("with a level accepts a sign-in with two factors only", async () => {
    expect((await client({ level: "mfa" }, { level: "mfa" }).get("/gated")).status).toBe(200);
    expect((await client({}, { level: "mfa" }).get("/gated")).json()).toMatchObject({
      status: 403,
      code: "second_factor_required",
      detail: "A second factor is required. Sign in with your second factor.",
    });
  });
});
