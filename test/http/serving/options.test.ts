import {
  ConfigurationError,
  env,
  type Logger,
  memoryStores,
  PorticoApp,
  type PorticoAppOptions,
  parseSize,
  topic,
} from "portico";
import { logCatcher, testClient } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";

afterEach(() => void vi.unstubAllEnvs());

describe("PorticoApp", () => {
  const wrong: readonly [option: string, options: object, sentence: string][] = [
    ["title", { title: "" }, "PorticoApp.title must be a non-empty string"],
    ["version", { version: 2 }, "PorticoApp.version must be a non-empty string, received 2"],
    ["description", { description: null }, "PorticoApp.description must be a non-empty string, received null"],
    [
      "origins",
      { origins: "https://a.example" },
      'PorticoApp.origins must be a list of origins such as "https://shop.example"',
    ],
    ["origins", { origins: [7] }, "PorticoApp.origins must be a list of origins"],
    [
      "stores",
      { stores: { durable: {} } },
      "PorticoApp.stores must be stores with the roles durable, counters and bus",
    ],
    [
      "publicUrl",
      { publicUrl: "shop.example" },
      'PorticoApp.publicUrl must be an address such as "https://shop.example/api"',
    ],
    ["publicUrl", { publicUrl: "ftp://shop.example" }, "PorticoApp.publicUrl must be an address"],
    ["publicUrl", { publicUrl: "https://shop.example/?a=1" }, "PorticoApp.publicUrl must be an address"],
    ["publicUrl", { publicUrl: "https://ann:pw@shop.example" }, "PorticoApp.publicUrl must be an address"],
    ["trustedProxies", { trustedProxies: true }, "PorticoApp.trustedProxies must be a list of networks"],
    ["trustedProxies", { trustedProxies: 1 }, "(never true: any client could claim any address), received 1"],
    ["trustedProxies", { trustedProxies: "10.0.0.0/8" }, "PorticoApp.trustedProxies must be a list of networks"],
    ["trustedProxies", { trustedProxies: ["proxy.example"] }, "PorticoApp.trustedProxies must be a list of networks"],
    ["trustedProxies", { trustedProxies: ["10.0.0.0/33"] }, "PorticoApp.trustedProxies must be a list of networks"],
    ["trustedProxies", { trustedProxies: ["10.0.0.0/"] }, "PorticoApp.trustedProxies must be a list of networks"],
    ["maxBody", { maxBody: "1 meg" }, 'PorticoApp.maxBody must be a size such as "512kb" or "2mb"'],
    ["maxBody", { maxBody: -1 }, "PorticoApp.maxBody must be a size"],
    ["timeouts", { timeouts: 30 }, "PorticoApp.timeouts must be an object, received 30"],
    [
      "timeouts.handlerSeconds",
      { timeouts: { handlerSeconds: "30" } },
      "PorticoApp.timeouts.handlerSeconds must be a number of seconds",
    ],
    [
      "timeouts.graceSeconds",
      { timeouts: { graceSeconds: Number.POSITIVE_INFINITY } },
      "PorticoApp.timeouts.graceSeconds must be",
    ],
    [
      "timeouts.requestSeconds",
      { timeouts: { headersSeconds: 20, requestSeconds: 10 } },
      "PorticoApp.timeouts.requestSeconds must be at least headersSeconds (20), received 10",
    ],
    [
      "timeouts.handler",
      { timeouts: { handler: 1 } },
      'PorticoApp.timeouts: unknown option "handler". Did you mean "handlerSeconds"?',
    ],
    ["load", { load: [] }, "PorticoApp.load must be an object"],
    [
      "load.maxInFlight",
      { load: { maxInFlight: 0 } },
      "PorticoApp.load.maxInFlight must be a positive integer, received 0",
    ],
    [
      "load.maxInFligth",
      { load: { maxInFligth: 1 } },
      'PorticoApp.load: unknown option "maxInFligth". Did you mean "maxInFlight"?',
    ],
    ["health", { health: "on" }, "PorticoApp.health must be an object, or false"],
    ["shutdown", { shutdown: null }, "PorticoApp.shutdown must be an object, received null"],
    [
      "shutdown.signals",
      { shutdown: { signals: ["SIGKILL"] } },
      'PorticoApp.shutdown.signals must be a list of "SIGTERM" and "SIGINT"',
    ],
    [
      "shutdown.delaySeconds",
      { shutdown: { delaySeconds: -1 } },
      "PorticoApp.shutdown.delaySeconds must be a number of seconds",
    ],
    ["openapi", { openapi: "/openapi.json" }, "PorticoApp.openapi must be an object, or true or false"],
    ["logger", { logger: true }, "PorticoApp.logger must be a pino logger, an object with level and stream, or false"],
    ["logger.level", { logger: { level: "loud" } }, 'PorticoApp.logger.level must be "trace", "debug", "info"'],
    ["logger.stream", { logger: { stream: {} } }, "PorticoApp.logger.stream must be an object with write(line)"],
    ["debug", { debug: "yes" }, "PorticoApp.debug must be true or false"],
    ["clock", { clock: { now: () => 0 } }, "PorticoApp.clock must be a clock with now() and monotonic()"],
    [
      "trustedProxies",
      { trustedProxies: ["loopback", "10.0.0.0/99"] },
      '(never true: any client could claim any address), received "10.0.0.0/99" at [1]',
    ],
    ["orgins", { orgins: [] }, 'PorticoApp: unknown option "orgins". Did you mean "origins"?'],
    ["trustedProxy", { trustedProxy: [] }, 'PorticoApp: unknown option "trustedProxy". Did you mean "trustedProxies"?'],
    ["timeout", { timeout: {} }, 'PorticoApp: unknown option "timeout". Did you mean "timeouts"?'],
    ["port", { port: 3000 }, 'PorticoApp: unknown option "port". The options are title, version'],
  ];
  it.each(wrong)("rejects an invalid value of %s by its name: %j", (option, options, sentence) => {
    const act = (): unknown => new PorticoApp(options);

    expect(act).toThrow(ConfigurationError);
    expect(act).toThrow(sentence);
    expect(act).toThrow(expect.objectContaining({ option: `PorticoApp.${option}` }));
  });

  it.each([null, [], "options", 7])("rejects %j instead of options", (options) => {
    expect(() => new PorticoApp(options as never)).toThrow("PorticoApp options must be an object");
  });

  it("accepts every valid option, and does not change the object", async () => {
    const options = deepFreeze({
      title: "Bookshop",
      version: "1.0.0",
      description: "Books",
      origins: ["https://shop.example"],
      publicUrl: "https://shop.example/api/",
      trustedProxies: ["10.0.0.0/8", "::1", "fd00::/8", "loopback", "linklocal", "uniquelocal", "192.168.0.1"],
      maxBody: "2mb",
      timeouts: { headersSeconds: 1, requestSeconds: 2, keepAliveSeconds: 3, handlerSeconds: 0, graceSeconds: 0.5 },
      load: { maxInFlight: 5, maxEventLoopDelayMs: 100, retryAfterSeconds: 2 },
      health: { live: "/l", ready: "/r", checks: {} },
      shutdown: { signals: [], delaySeconds: 0, socketSeconds: 0, deadlineSeconds: 1 },
      openapi: false,
      logger: false,
      debug: true,
    } as const satisfies PorticoAppOptions);
    const app = new PorticoApp(options).get("/", ({ request }) => request.url);

    expect((await testClient(app).get("/")).json()).toBe("https://shop.example/api/");
    expect(options.publicUrl).toBe("https://shop.example/api/");
  });

  it("takes undefined for an option that is left out", () => {
    expect(() => new PorticoApp({ title: undefined, load: undefined, health: undefined } as never)).not.toThrow();
  });

  it("never shows the value of an object in the message: it could hold a secret", () => {
    const act = (): unknown => new PorticoApp({ title: { password: "s3cret" } as never });

    expect(act).toThrow("PorticoApp.title must be a non-empty string, received an object (Object)");
  });

  it("rejects debug in production", () => {
    vi.stubEnv("NODE_ENV", "production");

    expect(() => new PorticoApp({ debug: true })).toThrow(
      "PorticoApp.debug must not be enabled in production: it would expose internal errors to clients",
    );
    expect(() => new PorticoApp({ debug: false })).not.toThrow();
  });

  it("logs to its own logger, or to the one passed in", async () => {
    const log = logCatcher();
    const heard: string[] = [];
    const own = listening((sentence) => void heard.push(sentence));

    new PorticoApp({ logger: { level: "warn", stream: log.stream } }).log.info({}, "not loud enough");
    new PorticoApp({ logger: { level: "warn", stream: log.stream } }).log.warn({ shelf: 1 }, "loud enough");
    new PorticoApp({ logger: own }).log.info({}, "heard");

    expect(log.lines.map(({ level, msg, shelf }) => [level, msg, shelf])).toEqual([["warn", "loud enough", 1]]);
    expect(heard).toEqual(["heard"]);
  });

  it("uses separate stores for each app, or those passed in", async () => {
    const stores = memoryStores();
    const published = topic<string>("stores of its own");
    const heard = stores.bus.subscribe(published)[Symbol.asyncIterator]();
    const app = (options: PorticoAppOptions): PorticoApp =>
      new PorticoApp({ logger: false, ...options }).get("/", ({ ctx }) => ctx.pubsub.publish(published, "hello"));

    await testClient(app({})).get("/");
    await testClient(app({ stores })).get("/");

    expect(await heard.next()).toEqual({ done: false, value: "hello" });
    await heard.return?.();
    expect(app({ stores }).pubsub).toBe(stores.bus);
    expect(app({}).pubsub).not.toBe(app({}).pubsub);
  });
});

describe("env", () => {
  it("returns the variable, or its fallback if it is missing or empty", () => {
    vi.stubEnv("PORTICO_TEST", "3000");
    vi.stubEnv("PORTICO_EMPTY", "");

    expect(env("PORTICO_TEST", "1")).toBe("3000");
    expect(env("PORTICO_EMPTY", "1")).toBe("1");
    expect(env("PORTICO_MISSING", "")).toBe("");
  });

  it.each(["PORTICO_EMPTY", "PORTICO_MISSING"])(
    "throws with the name of the variable without a fallback: %s",
    (name) => {
      vi.stubEnv("PORTICO_EMPTY", "");

      expect(() => env(name)).toThrow(ConfigurationError);
      expect(() => env(name)).toThrow(`the environment variable ${name} must be set and not empty`);
    },
  );
});

describe("parseSize", () => {
  it.each([
    ["0b", 0],
    ["1b", 1],
    ["1kb", 1024],
    ["1KB", 1024],
    ["1.5 kb", 1536],
    ["2mb", 2 * 1024 ** 2],
    ["1gb", 1024 ** 3],
  ])("%s is %i bytes", (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  it.each(["", "1", "kb", "1 k", "-1kb", "1e3kb", "1kb ", " 1kb", "1tb", "0x10kb", "1,5kb", "99999999999gb", "NaNkb"])(
    "refuses %j",
    (text) => {
      expect(() => parseSize(text)).toThrow(ConfigurationError);
      expect(() => parseSize(text)).toThrow('size must be a size such as "512kb" or "2mb"');
    },
  );
});

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const inner of Object.values(Object.freeze(value))) deepFreeze(inner);
  return value;
}

function listening(hear: (sentence: string) => void): Logger {
  const line = (_details: object, sentence: string): void => hear(sentence);
  const logger: Logger = {
    level: "info",
    trace: line,
    debug: line,
    info: line,
    warn: line,
    error: line,
    fatal: line,
    child: () => logger,
  };
  return logger;
}
