import { ConfigurationError, PorticoApp, rateLimit } from "portico";
import {
  APIKeyAuthBackend,
  APIKeys,
  accountRoutes,
  authentication,
  JWTAuthBackend,
  jwksRoutes,
  SessionMiddleware,
  SimpleUser,
  TokenForUser,
} from "portico/auth";
import { RedisKeyValue, redisStores } from "portico/redis";
import { openDatabase, userModel } from "portico/sql";
import { describe, expect, it } from "vitest";
import { memoryUsers } from "../accounts/memory-users.ts";

const STRONG = "a secret of the tests, which is long enough";
const SHORT = "hunter2";
const ADDRESS = "redis://shop:hunter2@db.example:6379/0?password=hunter2";
const accounts = { userModel: memoryUsers(), audience: "shop", secret: STRONG };
const user = new SimpleUser("ann");

/** Every option that contains a secret, or may contain one by mistake, with a value that is rejected. */
const doors: readonly [name: string, build: (given: never) => unknown, given: unknown][] = [
  ["PorticoApp.cursorKeys", (cursorKeys) => new PorticoApp({ cursorKeys }), SHORT],
  ["PorticoApp.cursorKeys", (cursorKeys) => new PorticoApp({ cursorKeys }), [STRONG, SHORT]],
  ["PorticoApp.cursorKeys", (cursorKeys) => new PorticoApp({ cursorKeys }), { secret: SHORT }],
  ["PorticoApp.stores", (stores) => new PorticoApp({ stores }), ADDRESS],
  ["PorticoApp.publicUrl", (publicUrl) => new PorticoApp({ publicUrl }), "https://shop:hunter2@shop.example"],
  ["PorticoApp.origins", (origin) => new PorticoApp({ origins: [origin] }), "https://shop:hunter2@shop.example"],
  ["PorticoApp options", (options) => new PorticoApp(options), STRONG],
  ["rateLimit.store", (store) => rateLimit({ perMinute: 1, store }), ADDRESS],
  ["SessionMiddleware.secret", (secret) => new SessionMiddleware({ secret }), SHORT],
  ["SessionMiddleware.store", (store) => new SessionMiddleware({ secret: STRONG, store }), ADDRESS],
  ["SessionMiddleware options", (options) => new SessionMiddleware(options), STRONG],
  ["authentication.secret", (secret) => authentication({ ...accounts, secret }), [SHORT]],
  ["accountRoutes.secret", (secret) => accountRoutes({ ...accounts, secret }), SHORT],
  ["accountRoutes.mailer", (mailer) => accountRoutes({ ...accounts, mailer }), "smtp:hunter2"],
  ["accountRoutes.isBreached", (isBreached) => accountRoutes({ ...accounts, isBreached }), SHORT],
  ["accountRoutes.store", (store) => accountRoutes({ ...accounts, store }), ADDRESS],
  ["accountRoutes.keys", (keys) => accountRoutes({ ...accounts, keys }), SHORT],
  ["APIKeys.store", (store) => new APIKeys({ store }), ADDRESS],
  ["APIKeyAuthBackend.keys", (keys) => new APIKeyAuthBackend({ keys }), SHORT],
  ["APIKeyAuthBackend.store", (store) => new APIKeyAuthBackend({ store }), ADDRESS],
  ["JWTAuthBackend.secretKey", (secretKey) => new JWTAuthBackend({ secretKey }), SHORT],
  ["JWTAuthBackend.jwks", (jwks) => new JWTAuthBackend({ jwks }), SHORT],
  ["JWTAuthBackend.sessionStore", (sessionStore) => new JWTAuthBackend({ secretKey: STRONG, sessionStore }), ADDRESS],
  ["JWTAuthBackend options", (options) => new JWTAuthBackend(options), STRONG],
  ["TokenForUser.secret", (secret) => new TokenForUser(user, { secret }), SHORT],
  ["TokenForUser.signingKey", (signingKey) => new TokenForUser(user, { signingKey }), SHORT],
  ["TokenForUser.refreshSecret", (refreshSecret) => new TokenForUser(user, { secret: STRONG, refreshSecret }), SHORT],
  ["TokenForUser.refreshStore", (refreshStore) => new TokenForUser(user, { secret: STRONG, refreshStore }), ADDRESS],
  ["jwksRoutes", (keys) => jwksRoutes(keys), SHORT],
  ["RedisKeyValue", (url) => new RedisKeyValue(url), "http://shop:hunter2@db.example"],
  ["redisStores", (url) => redisStores(url), "http://shop:hunter2@db.example"],
  ["redisStores", (durable) => redisStores({ durable, counters: durable, bus: durable }), "shop:hunter2@db.example"],
  ["openDatabase.url", (url) => openDatabase(url), "mysql://shop:hunter2@db.example/shop"],
  ["userModel.database", (database) => userModel(database), "postgres://shop:hunter2@db.example/shop"],
  ["userModel.bus", (bus) => userModel(openDatabase("sqlite::memory:"), { bus }), ADDRESS],
];

describe("the message of a ConfigurationError", () => {
  it.each(doors)("names %s and not the secret that was given", (name, build, given) => {
    const error = thrownBy(() => build(given as never));

    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toContain(name);
    expect(error.message).not.toContain("hunter2");
    expect(error.message).not.toContain(STRONG);
  });

  it("names the position of the wrong secret in a list", () => {
    expect(() => new PorticoApp({ cursorKeys: [STRONG, SHORT] })).toThrow(
      "PorticoApp.cursorKeys must be a secret of at least 32 bytes, or a list of them, the newest first, received a string of 7 bytes at [1]",
    );
  });

  it("shows an address without its password, whatever is in that", () => {
    expect(() => new PorticoApp({ publicUrl: "https://shop:hun/ter@2@shop.example" })).toThrow(
      'received "https://shop:***@shop.example"',
    );
  });
});

function thrownBy(act: () => unknown): Error {
  try {
    act();
  } catch (error) {
    return error as Error;
  }
  throw new Error("nothing was thrown");
}
