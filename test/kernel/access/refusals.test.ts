import { Conflict, every, type Gate, HttpException, not, PorticoApp, rule, some } from "portico";
import { AuthenticationMiddleware, SimpleUser, useAuth } from "portico/auth";
import { logCatcher, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { HeaderBackend } from "../../auth/backends/recording-backend.ts";

type AnyGate = Gate<any, any, any>;

const failing = (): boolean => {
  throw new Error("the rules are unavailable");
};
const refusing = (error: Error) => async (): Promise<boolean> => {
  throw error;
};
const withTwoFactors = (): AnyGate => useAuth({ level: "mfa" });
const reader = (): AnyGate => useAuth({ permissions: ["read"] });
/** The headers of each caller. The backend fails for the last, who is neither signed in nor anonymous. */
const callers = { ann: { "x-jwt": "ann" }, anonymous: {}, unknown: { "x-jwt": "!" } } as const;

const authentication = (): AuthenticationMiddleware =>
  new AuthenticationMiddleware({ userModel: SimpleUser, backend: new HeaderBackend("jwt") });

/** The response of a route behind the gate. */
async function asked(gate: AnyGate, caller: keyof typeof callers): Promise<unknown> {
  const app = new PorticoApp({ logger: false }).use(authentication()).get("/", { auth: gate as Gate }, () => "in");
  const response = await testClient(app).get("/", { headers: callers[caller] });
  return response.status === 200 ? "in" : response.json();
}

describe("a combination that refuses", () => {
  it.each<[string, () => AnyGate, object]>([
    [
      "the first of two alike",
      () => some(refusing(new Conflict("First")), refusing(new Conflict("Second"))),
      { detail: "First" },
    ],
    ["one that says more than 403", () => some(reader(), withTwoFactors()), { code: "second_factor_required" }],
    ["a failure before one that says more", () => some(failing, withTwoFactors()), { code: "forbidden" }],
    ["a failure after one that says more", () => some(withTwoFactors(), failing), { code: "forbidden" }],
    [
      "the first that refuses in every()",
      () => every(true, withTwoFactors(), reader()),
      { code: "second_factor_required" },
    ],
    ["that of an inner combination", () => every(some(reader(), withTwoFactors())), { code: "second_factor_required" }],
  ])("has the error of %s", async (_text, make, expected) => {
    expect(await asked(make(), "ann")).toMatchObject(expected);
  });

  it("asks no gate after the one that decides, whether it decides at once or later", async () => {
    const gates: string[] = [];
    const gate =
      (name: string, result: boolean, isLater: boolean) =>
      (_user: unknown): any => {
        gates.push(name);
        return isLater ? Promise.resolve(result) : result;
      };

    for (const isLater of [false, true]) {
      gates.length = 0;
      expect(
        await asked(every(gate("a", true, isLater), gate("b", false, isLater), gate("c", true, isLater)), "ann"),
      ).toMatchObject({ status: 403 });
      expect(gates).toEqual(["a", "b"]);
      gates.length = 0;
      expect(
        await asked(some(gate("a", false, isLater), gate("b", true, isLater), gate("c", true, isLater)), "ann"),
      ).toBe("in");
      expect(gates).toEqual(["a", "b"]);
    }
  });
});

it("a sign-in method that a gate does not list is refused with 401, and one that it lists is not", async () => {
  expect(await asked(useAuth({ scopes: ["session"] }), "ann")).toMatchObject({
    status: 401,
    detail: "This sign-in method is not accepted here. Use another one.",
  });
  expect(await asked(useAuth({ scopes: ["session", "jwt"] }), "ann")).toBe("in");
  expect(await asked(useAuth({ scopes: [] }), "ann")).toBe("in");
});

describe("a caller whose identity is unknown", () => {
  const isAnn = (user: { readonly identity: string }): boolean => user.identity === "ann";

  it.each<[string, () => AnyGate]>([
    ["useAuth()", () => useAuth()],
    ["a function", () => every(isAnn)],
    ["not(useAuth())", () => not(useAuth())],
    ["not(function)", () => not(isAnn)],
    ["some(true, function)", () => some(true, isAnn)],
  ])("is neither let in nor refused: %s", async (_text, make) => {
    expect(await asked(make(), "unknown")).toMatchObject({
      status: 503,
      detail: "Authentication is temporarily unavailable. Try again later.",
    });
  });

  it("may retry after five seconds", async () => {
    const app = new PorticoApp({ logger: false }).use(authentication()).get("/", { auth: true }, () => "in");
    const { headers } = await testClient(app).get("/", { headers: callers.unknown });

    expect(headers["retry-after"]).toBe("5");
  });

  it("passes a gate that does not need an identity", async () => {
    expect(await asked(useAuth({ required: false }), "unknown")).toBe("in");
    expect(await asked(some(true, useAuth({ required: false })), "unknown")).toBe("in");
  });

  it("has no access to an object, by a rule for anonymous callers either", async () => {
    const open = rule<object>({ name: "row.open", allows: () => true, anonymous: true });
    const own = rule<object>({ name: "row.own", allows: () => true });
    const app = new PorticoApp({ logger: false })
      .use(authentication())
      .get("/open", ({ ctx }) => ctx.can(open, {}))
      .get("/own", ({ ctx }) => ctx.can(own, {}));
    const seen = async (path: string, caller: keyof typeof callers): Promise<unknown> => {
      const response = await testClient(app).get(path, { headers: callers[caller] });
      return response.status === 200 ? response.json() : response.status;
    };

    expect([await seen("/open", "ann"), await seen("/own", "ann")]).toEqual([true, true]);
    expect([await seen("/open", "anonymous"), await seen("/own", "anonymous")]).toEqual([true, false]);
    expect([await seen("/open", "unknown"), await seen("/own", "unknown")]).toEqual([503, 503]);
  });
});

describe("a rule that refuses an object", () => {
  const closed = (anonymous: boolean): AnyGate =>
    rule<object>({ name: "row.closed", allows: () => false, anonymous } as never);
  const app = (gate: AnyGate): PorticoApp =>
    new PorticoApp({ logger: false })
      .use(authentication())
      .get("/hidden", ({ ctx }) => ctx.authorize(gate, { id: 1 }))
      .get("/also-hidden", ({ ctx }) => ctx.authorize(gate, { id: 1 }, { status: 404 }))
      .get("/shown", ({ ctx }) => ctx.authorize(gate, { id: 1 }, { status: 403 }));
  const statuses = (gate: AnyGate, caller: keyof typeof callers): Promise<number[]> =>
    Promise.all(
      ["/hidden", "/also-hidden", "/shown"].map(
        async (path) => (await testClient(app(gate)).get(path, { headers: callers[caller] })).status,
      ),
    );

  it("hides it with 404, or with 401 or 403 if the handler says so", async () => {
    for (const gate of [closed(false), closed(true)]) {
      expect(await statuses(gate, "ann")).toEqual([404, 404, 403]);
      expect(await statuses(gate, "anonymous")).toEqual([404, 404, 401]);
      expect(await statuses(gate, "unknown")).toEqual([503, 503, 503]);
    }
  });

  it("may fail for an anonymous caller, who is then asked to sign in", async () => {
    const broken = rule<object>({ name: "row.broken", allows: failing, anonymous: true });

    expect(await statuses(broken, "anonymous")).toEqual([401, 401, 401]);
    expect(await statuses(broken, "ann")).toEqual([403, 403, 403]);
  });

  it.each([500, 502])("may refuse with an error of the server, which decides nothing: %i", async (status) => {
    const away = rule<object>({ name: "row.away", allows: refusing(new HttpException(status, "Away")) });

    expect(await statuses(away, "ann")).toEqual([status, status, status]);
    expect(await statuses(not(away), "ann")).toEqual([status, status, status]);
  });

  it("receives the object and the context, as a function does", async () => {
    const seen: unknown[] = [];
    const ofRow = rule<object>({
      name: "row.seen",
      allows(user, object, { ctx }) {
        seen.push(object, ctx.user === user);
        return true;
      },
    });
    const ofPlace = ((user: unknown, { parent, ctx }: { readonly parent: object; readonly ctx: { user: unknown } }) => {
      seen.push(parent, ctx.user === user);
      return true;
    }) as unknown as AnyGate;

    expect(await statuses(every(ofRow, ofPlace), "ann")).toEqual([200, 200, 200]);
    expect(seen.slice(0, 4)).toEqual([{ id: 1 }, true, { id: 1 }, true]);
  });
});

describe("the log, for a gate that returns neither true nor false", () => {
  /** The warnings after three requests. */
  async function warnings(auth: unknown): Promise<readonly unknown[]> {
    const log = logCatcher();
    const app = new PorticoApp({ logger: log }).use(authentication()).get("/", { auth: auth as true }, () => "in");
    for (let count = 0; count < 3; count++)
      expect((await testClient(app).get("/", { headers: callers.ann })).status).toBe(403);
    return log.lines
      .filter(({ msg }) => msg === "a gate returned neither true nor false; access is denied")
      .map(({ level, gate }) => [level, gate]);
  }
  const isTruthy = (user: object): object => user;

  it("has one line with its name, whether it decides at once or later", async () => {
    const later = async (user: object): Promise<object> => user;

    expect(await warnings(isTruthy)).toEqual([["warn", "isTruthy"]]);
    expect(await warnings(later)).toEqual([["warn", "later"]]);
    expect(await warnings([(): number => 1][0])).toEqual([["warn", "auth"]]);
    expect(await warnings(every((() => undefined) as never))).toEqual([["warn", "auth"]]);
  });

  it("has no line for false, and none in production", async () => {
    expect(await warnings(() => false)).toEqual([]);
    vi.stubEnv("NODE_ENV", "production");
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await warnings(isTruthy)).toEqual([]);
  });
});
