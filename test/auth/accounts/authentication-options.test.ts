import { ConfigurationError, PorticoApp, Router } from "portico";
import { type AccountOptions, accountRoutes, authentication, consoleMailer } from "portico/auth";
import { afterEach, describe, expect, it, vi } from "vitest";
import { memoryUsers } from "./memory-users.ts";

const right: AccountOptions = {
  userModel: memoryUsers(),
  audience: "shop",
  secret: "a secret of the tests, which is long enough",
};

afterEach(() => void vi.unstubAllEnvs());

describe.each([
  ["authentication", authentication],
  ["accountRoutes", accountRoutes],
] as const)("%s", (owner, build) => {
  const wrong: readonly [option: string, options: object, sentence: string][] = [
    ["audience", { audience: undefined }, "must be a non-empty string, received undefined"],
    ["userModel", { userModel: {} }, "must be a user model with loadUser(identity) and objects"],
    ["userModel", { userModel: undefined }, "is missing"],
    ["except", { except: ["login", "lgoin"] }, 'received "lgoin" at [1]'],
    ["verifyMail", { verifyMail: true }, 'Did you mean "verifyEmail"?'],
  ];
  it.each(wrong)("names itself in what it says of a wrong %s", (option, options, sentence) => {
    const act = (): unknown => build({ ...right, ...options });

    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow(expect.objectContaining({ option: `${owner}.${option}` }));
    expect(act).toThrow(sentence);
  });

  it("requires a mailer in production", () => {
    vi.stubEnv("NODE_ENV", "production");

    expect(() => build(right)).toThrow(
      `${owner}.mailer is required in production: the default mailer only prints emails`,
    );
    expect(() => build({ ...right, mailer: async () => {} })).not.toThrow();
    expect(() => consoleMailer()).toThrow(
      "consoleMailer must not be used in production: it prints emails instead of sending them",
    );
  });
});

describe("authentication", () => {
  it.each<readonly [option: string, options: object, sentence: string]>([
    [
      "backends",
      { backends: [{}] },
      "must be a list of AuthenticationBackend objects, received an object (Object) at [0]",
    ],
    ["accounts", { accounts: "account" }, 'must be a path that begins with "/", or false, received "account"'],
    ["backend", { backend: [] }, 'Did you mean "backends"?'],
  ])("rejects a wrong %s and names it", (option, options, sentence) => {
    const act = (): unknown => authentication({ ...right, ...options });

    expect(act).toThrow(expect.objectContaining({ option: `authentication.${option}` }));
    expect(act).toThrow(sentence);
  });

  it("is rejected a second time on one router", () => {
    const app = new PorticoApp({ logger: false }).use(authentication(right));

    expect(() => app.use(authentication(right))).toThrow("authentication is used twice on this router");
    expect(() => new Router().use(authentication({ ...right, accounts: false }))).not.toThrow();
  });
});
