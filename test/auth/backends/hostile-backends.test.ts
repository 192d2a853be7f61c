import { HttpException, PorticoApp, type PorticoRequest, type UserProtocol } from "portico";
import {
  AuthenticationBackend,
  AuthenticationMiddleware,
  AuthResult,
  SimpleUser,
  type UseAuthOptions,
  type UserModel,
  useAuth,
} from "portico/auth";
import { type CaughtLine, liveClient, logCatcher, testClient } from "portico/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { passTime, untilWithoutTime } from "../../pass-time.ts";
import { HeaderBackend } from "./recording-backend.ts";

/** Returns the given result. */
class Odd extends AuthenticationBackend {
  readonly scope = "jwt";
  readonly says: () => Promise<unknown>;
  readonly carrying: boolean | undefined;

  constructor(says: () => Promise<unknown>, carrying?: boolean) {
    super();
    this.says = says;
    this.carrying = carrying;
  }
  override carries(): boolean {
    return this.carrying ?? true;
  }
  async authenticate(): Promise<AuthResult> {
    return (await this.says()) as AuthResult;
  }
}

interface Seen {
  /** The gate's answer without another credential, and with one for the backend behind. */
  readonly gated: readonly (number | string)[];
  readonly open: number;
  readonly errors: readonly string[];
}

async function meet(backend: AuthenticationBackend, userModel: UserModel<UserProtocol> = SimpleUser): Promise<Seen> {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log })
    .use(
      new AuthenticationMiddleware({
        userModel,
        backend: [backend, new HeaderBackend("session")],
        timeoutSeconds: 0.05,
      }),
    )
    .get("/gated", { auth: useAuth() }, ({ user }) => user.identity)
    .get("/open", ({ user }) => user.identity);
  const client = await liveClient(app);
  const alone = await client.get("/gated");
  const other = await client.get("/gated", { headers: { "x-session": "bob" } });
  const open = (await client.get("/open")).status;
  await client.close();
  const errors = log.lines.filter(({ level }: CaughtLine) => level === "error").map(({ msg }) => msg);
  const retry = alone.headers["retry-after"];
  return {
    gated: [
      alone.status,
      ...(retry === undefined ? [] : [retry]),
      other.status === 200 ? (other.json() as string) : other.status,
    ],
    open,
    errors: [...new Set(errors)],
  };
}

const FAILED = "an authentication backend threw";

describe("[auth:AU-177] a custom backend", () => {
  it("[auth:AU-177] that throws or times out has failed: the next one is tried, or the response is 503", async () => {
    const fail = async (): Promise<never> => {
      throw new Error("down");
    };
    const hang = (): Promise<never> => new Promise(() => {});

    for (const says of [fail, hang]) {
      expect(await meet(new Odd(says))).toEqual({ gated: [503, "5", "bob"], open: 200, errors: [FAILED] });
      expect(await meet(new Odd(says, false))).toEqual({ gated: [401, "bob"], open: 200, errors: [FAILED] });
    }
  });

  it.each([400, 413, 429])(
    "that throws %s has declined: gates throw that error, and no error is logged",
    async (status) => {
      const says = async (): Promise<never> => {
        throw new HttpException(status, "no");
      };

      expect(await meet(new Odd(says))).toEqual({ gated: [status, "bob"], open: 200, errors: [] });
    },
  );

  it("that throws 500 or more has failed, as with any other error", async () => {
    const says = async (): Promise<never> => {
      throw new HttpException(502, "the directory is down");
    };

    expect(await meet(new Odd(says))).toEqual({ gated: [503, "5", "bob"], open: 200, errors: [FAILED] });
  });

  it("that reads a body that is too large declines, and only a debug line is logged", async () => {
    const log = logCatcher();
    class Reads extends AuthenticationBackend {
      readonly scope = "jwt";
      async authenticate(request: PorticoRequest): Promise<AuthResult> {
        return AuthResult.accept(await request.text(), this.scope);
      }
    }
    const app = new PorticoApp({ logger: log, maxBody: 8 })
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: new Reads() }))
      .post("/gated", { auth: useAuth() }, ({ user }) => user.identity)
      .post("/open", ({ user }) => user.isAuthenticated);
    const client = await liveClient(app);

    expect((await client.post("/gated", { body: "ann" })).json()).toBe("ann");
    expect((await client.post("/gated", { body: "a name that is too long" })).status).toBe(413);
    expect((await client.post("/open", { body: "a name that is too long" })).json()).toBe(false);
    expect(log.lines.filter(({ level }) => level === "error" || level === "warn")).toEqual([]);
    expect(log.lines.filter(({ msg }) => msg === "an authentication backend declined")).toEqual([
      expect.objectContaining({ level: "debug", scope: "jwt" }),
      expect.objectContaining({ level: "debug", scope: "jwt" }),
    ]);
    await client.close();
  });

  it("[auth:AU-177] has five seconds, unless the middleware says otherwise", async () => {
    let isAsked = false;
    const hanging = new Odd(() => {
      isAsked = true;
      return new Promise(() => {});
    });
    const app = new PorticoApp({ logger: false })
      .use(new AuthenticationMiddleware({ userModel: SimpleUser, backend: hanging }))
      .get("/gated", { auth: useAuth() }, () => "in");
    const client = testClient(app);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const statuses: number[] = [];

    const answering = client.get("/gated").then(({ status }) => statuses.push(status));
    await untilWithoutTime(() => isAsked);
    await passTime(4_999);
    expect(statuses).toEqual([]);
    await passTime(1);
    await answering;

    expect(statuses).toEqual([503]);
  });

  it.each<readonly [string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["text", "ann"],
    ["an identity that is an object", { success: true, identity: { id: 1 }, scope: "jwt" }],
    ["an identity that is a list", { success: true, identity: ["ann"], scope: "jwt" }],
    ["a success without identity", { success: true, scope: "jwt" }],
  ])("[auth:AU-177] that returns %s has declined, and an error is logged", async (_title, result) => {
    expect(await meet(new Odd(async () => result))).toEqual({
      gated: [401, "bob"],
      open: 200,
      errors: [
        expect.stringMatching(/^the backend (did not return an AuthResult|returned an identity that is not a string)$/),
      ],
    });
  });

  it("[auth:AU-178] that succeeds with an empty identity has declined", async () => {
    expect(await meet(new Odd(async () => AuthResult.accept("", "jwt")))).toEqual({
      gated: [401, "bob"],
      open: 200,
      errors: [],
    });
  });
});

it("[auth:AU-179] a model that throws leaves the caller unknown, and one that returns null leaves the caller anonymous", async () => {
  const throwing = { loadUser: () => Promise.reject(new Error("no database")) };
  const nobody = { loadUser: async () => Object.assign(new SimpleUser("ann"), { isAuthenticated: false }) as never };
  const ann = new Odd(async () => AuthResult.accept("ann", "jwt"));

  expect(await meet(ann, throwing)).toMatchObject({ gated: [503, "5", 503], open: 200, errors: [FAILED] });
  expect(await meet(ann, nobody)).toEqual({ gated: [401, 401], open: 200, errors: [] });
});

describe("[auth:AU-176] permissions", () => {
  const statusFor = async (
    hasPermission: unknown,
    permissions: UseAuthOptions["permissions"] = ["read"],
  ): Promise<number> => {
    class Reader extends SimpleUser {
      override hasPermission(_permission: string): boolean {
        return (hasPermission as () => boolean)();
      }
    }
    const app = new PorticoApp({ logger: false })
      .use(
        new AuthenticationMiddleware({
          userModel: { loadUser: async (name: string) => new Reader(name) },
          backend: new HeaderBackend(),
        }),
      )
      .get("/", { auth: useAuth({ permissions }) }, () => "in");
    const client = await liveClient(app);
    const { status } = await client.get("/", { headers: { "x-jwt": "ann" } });
    await client.close();
    return status;
  };

  it.each<readonly [string, unknown, number]>([
    ["true", true, 200],
    ["1", 1, 403],
    ["text", "yes", 403],
    ["an object", {}, 403],
    ["a promise of true", Promise.resolve(true), 403],
    ["nothing", undefined, 403],
  ])("[auth:AU-176] are granted only if hasPermission returns true: %s", async (_title, value, status) => {
    expect(await statusFor(() => value)).toBe(status);
  });

  it("[auth:AU-176] are not required by an empty list", async () => {
    expect(await statusFor(() => false, [])).toBe(200);
  });
});
