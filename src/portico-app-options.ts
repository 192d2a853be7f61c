import { BlockList, isIP } from "node:net";
import { type Clock, clockRule, systemClock } from "./core/clock.ts";
import { ConfigurationError } from "./core/configuration-error.ts";
import { isProduction } from "./core/env.ts";
import { type Secret, secretsRule } from "./core/key-ring.ts";
import type { Logger } from "./core/logger.ts";
import {
  flag,
  listOf,
  type OptionRule,
  objectRule,
  oneOf,
  optional,
  orFalse,
  orFlag,
  REFUSED,
  resolveOptions,
  seconds,
  someOf,
  strict,
  text,
  thing,
  withMethod,
} from "./core/resolve-options.ts";
import { type Size, size } from "./core/size.ts";
import type { BrandOptions } from "./http/html/brand.ts";
import type { Origin } from "./http/messages/origins.ts";
import { type HealthOptions, readHealthOptions } from "./http/serving/health-routes.ts";
import type { BudgetOptions } from "./kernel/limits/budget.ts";
import type { LoadOptions } from "./kernel/load/load.ts";
import { type OpenAPIOptions, readOpenApiOptions } from "./openapi/open-api-options.ts";
import { memoryStores, type Stores } from "./stores/stores.ts";

/** The options of an application. Every default is fit for production. */
export interface PorticoAppOptions {
  /** The name of the API in its OpenAPI document. @default "API" */
  readonly title?: string;
  /** The version of the API in its OpenAPI document. @default "0.0.0" */
  readonly version?: string;
  /** The description of the API in its OpenAPI document. @default none */
  readonly description?: string;
  /**
   * Browser origins that may read responses, send cookies and open sockets. The application's own origin always may. @default
   * none
   */
  readonly origins?: readonly Origin[];
  /**
   * Whether the pages of every origin may read responses (`Access-Control-Allow-Origin: *`), for clients of an API that allowed it
   * before. Such origins stay foreign: their requests have no cookies, and they open no sockets with them. `portico audit` warns of
   * it. @default false
   */
  readonly publicRead?: boolean;
  /**
   * The stores for sessions, counters and events. Required in production if sessions, tokens or limits use them: pass
   * `memoryStores()` if one process is enough. @default the memory of this process
   */
  readonly stores?: Stores;
  /**
   * The public URL of this application, used in links: `https://shop.example/api`. Required in production if emails, identity
   * providers or passkeys use it. @default taken from the request
   */
  readonly publicUrl?: string;
  /**
   * The secret that encrypts the cursors of paginated lists, at least 32 bytes. In a list the first secret encrypts, and all of
   * them decrypt. Required in production if a cursor strategy is used. @default a random one, outside production
   */
  readonly cursorKeys?: string | readonly string[];
  /** Networks of the proxies whose `X-Forwarded-*` headers are trusted: addresses, CIDR ranges or `"loopback"`. @default none */
  readonly trustedProxies?: readonly string[];
  /** The largest request body, unless a route sets its own limit. @default "1mb" */
  readonly maxBody?: Size;
  /** Time limits for requests and connections. @default those of `TimeoutOptions` */
  readonly timeouts?: TimeoutOptions;
  /** Overload protection. @default that of `LoadOptions` */
  readonly load?: LoadOptions;
  /** How much one caller may do, over routes, GraphQL and sockets together. @default no budget */
  readonly budget?: BudgetOptions;
  /** `false` disables both health routes. @default those of `HealthOptions` */
  readonly health?: HealthOptions | false;
  /** When the process is ready. @default that of `ReadinessOptions` */
  readonly readiness?: ReadinessOptions;
  /** The end of the process. @default that of `ShutdownOptions` */
  readonly shutdown?: ShutdownOptions;
  /** The OpenAPI document and its HTML page. @default served outside production */
  readonly openapi?: OpenAPIOptions | boolean;
  /** The logo and the colour of the pages that Portico serves to people. @default that of `BrandOptions` */
  readonly brand?: BrandOptions;
  /** A pino logger, or a level and a stream; `false` disables logging. @default level "info", to standard output */
  readonly logger?: Logger | LogOptions | false;
  /** Whether responses to unexpected errors contain the details. Not allowed in production. @default false */
  readonly debug?: boolean;
  /** The source of time. @default the system */
  readonly clock?: Clock;
}

/** Options of Portico's own logger. */
export interface LogOptions {
  /** @default "info" */
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
  /** Receives one line of JSON at a time. @default standard output */
  readonly stream?: { write(line: string): void };
}

/** Time limits, in seconds. */
export interface TimeoutOptions {
  /** The time limit for receiving the headers of a request. @default 15 */
  readonly headersSeconds?: number;
  /** The time limit for receiving a request, including its body. @default 60 */
  readonly requestSeconds?: number;
  /** How long an idle connection is kept open. @default 72 */
  readonly keepAliveSeconds?: number;
  /** The time limit for a handler; 0 disables the limit. @default 30 */
  readonly handlerSeconds?: number;
  /** How long a handler that timed out keeps its dependencies. @default 5 */
  readonly graceSeconds?: number;
  /** How often the credentials of open sockets and streams are checked again; 0 disables the check. @default 60 */
  readonly recheckSeconds?: number;
}

/** When `/readyz` returns 200. */
export interface ReadinessOptions {
  /**
   * Whether the process is ready while the durable store or a database rejects writes. With `"reported"`, `/readyz` names it
   * and returns 200, because reads still work; with `"required"` it returns 503. @default "reported"
   */
  readonly writes?: "reported" | "required";
}

/** How the process shuts down. */
export interface ShutdownOptions {
  /**
   * Signals that shut it down. With an empty list Portico installs no handler, neither for signals nor for unhandled
   * rejections. @default ["SIGTERM", "SIGINT"]
   */
  readonly signals?: readonly ("SIGTERM" | "SIGINT")[];
  /**
   * How long it keeps serving after a signal while readiness returns 503, so that the load balancer notices. @default 5 in
   * production, else 0
   */
  readonly delaySeconds?: number;
  /** The window in which open sockets are closed, so that their clients do not reconnect all at once. @default 5 */
  readonly socketSeconds?: number;
  /** When everything that is still open is cut off. Keep it below the limit of the orchestrator. @default 20 */
  readonly deadlineSeconds?: number;
}

/** The title of an application without a name. */
export const DEFAULT_TITLE = "API";

const appRules = {
  title: optional(text, DEFAULT_TITLE),
  version: optional(text, "0.0.0"),
  description: text,
  origins: optional(
    listOf<Origin>('a list of origins such as "https://shop.example"', (origin) => typeof origin === "string"),
    [],
  ),
  publicRead: optional(flag, false),
  stores: thing<Stores>(
    "stores with the roles durable, counters and bus",
    (value) =>
      typeof value === "object" && value !== null && "durable" in value && "counters" in value && "bus" in value,
  ),
  publicUrl: {
    expected: 'an address such as "https://shop.example/api"',
    read: readPublicUrl,
  } satisfies OptionRule<string>,
  cursorKeys: secretsRule("PorticoApp.cursorKeys"),
  trustedProxies: optional(
    listOf<string>(
      'a list of networks such as "10.0.0.0/8" (never true: any client could claim any address)',
      isNetwork,
    ),
    [],
  ),
  maxBody: optional(size, 1024 ** 2),
  timeouts: optional(objectRule<TimeoutOptions>("an object"), {}),
  load: optional(objectRule<LoadOptions>("an object"), {}),
  budget: strict(objectRule<BudgetOptions>("an object")),
  health: orFalse(objectRule<HealthOptions>("an object")),
  readiness: optional(objectRule<ReadinessOptions>("an object"), {}),
  shutdown: optional(objectRule<ShutdownOptions>("an object"), {}),
  brand: optional(objectRule<BrandOptions>("an object"), {}),
  openapi: orFlag(objectRule<OpenAPIOptions>("an object")),
  logger: orFalse(objectRule<Logger | LogOptions>("a pino logger, an object with level and stream")),
  debug: optional(flag, false),
  clock: optional(clockRule, systemClock),
} as const;

const timeoutRules = {
  headersSeconds: optional(seconds, 15),
  requestSeconds: optional(seconds, 60),
  keepAliveSeconds: optional(seconds, 72),
  handlerSeconds: optional(seconds, 30),
  graceSeconds: optional(seconds, 5),
  recheckSeconds: optional(seconds, 60),
};

const shutdownRules = {
  signals: optional(someOf("SIGTERM", "SIGINT"), ["SIGTERM", "SIGINT"]),
  delaySeconds: seconds,
  socketSeconds: optional(seconds, 5),
  deadlineSeconds: optional(seconds, 20),
};

const readinessRules = { writes: optional(oneOf("reported", "required"), "reported") };

const logRules = {
  level: optional(oneOf("trace", "debug", "info", "warn", "error", "fatal", "silent"), "info"),
  stream: withMethod<NonNullable<LogOptions["stream"]>>("an object with write(line)", "write"),
};

/** The resolved options: every default filled in, sizes in bytes. */
export interface ResolvedAppOptions
  extends Required<
    Pick<
      PorticoAppOptions,
      | "title"
      | "version"
      | "origins"
      | "publicRead"
      | "stores"
      | "trustedProxies"
      | "load"
      | "brand"
      | "debug"
      | "clock"
    >
  > {
  readonly description: string | undefined;
  readonly publicUrl: string | null;
  /** Whether `stores` was passed. Without it, the stores are the memory of the process. */
  readonly areStoresNamed: boolean;
  readonly cursorKeys: readonly Secret[] | undefined;
  readonly budget: BudgetOptions | undefined;
  readonly maxBody: number;
  readonly timeouts: Required<TimeoutOptions>;
  readonly readiness: Required<ReadinessOptions>;
  readonly shutdown: Required<ShutdownOptions>;
  readonly health: Required<HealthOptions> | false;
  readonly openapi: Required<OpenAPIOptions> | false;
  readonly logger: Logger | LogSettings | false;
}
/** The level is always set, the stream only if one was given. */
type LogSettings = Required<Pick<LogOptions, "level">> & Pick<LogOptions, "stream">;

/** Reads the options once. The error for an invalid value names its option. */
export function resolveAppOptions(given: PorticoAppOptions): ResolvedAppOptions {
  const options = resolveOptions("PorticoApp", given, appRules);
  const shutdown = resolveOptions("PorticoApp.shutdown", options.shutdown, shutdownRules);
  const timeouts = resolveOptions("PorticoApp.timeouts", options.timeouts, timeoutRules);
  if (timeouts.requestSeconds < timeouts.headersSeconds) {
    throw new ConfigurationError(
      "PorticoApp.timeouts.requestSeconds",
      `at least headersSeconds (${timeouts.headersSeconds})`,
      timeouts.requestSeconds,
    );
  }
  if (options.debug && isProduction())
    throw new ConfigurationError(
      "PorticoApp.debug",
      "must not be enabled in production: it would expose internal errors to clients",
    );
  return {
    ...options,
    timeouts,
    readiness: resolveOptions("PorticoApp.readiness", options.readiness, readinessRules),
    shutdown: { ...shutdown, delaySeconds: shutdown.delaySeconds ?? (isProduction() ? 5 : 0) },
    health: options.health === false ? false : readHealthOptions(options.health ?? {}),
    openapi: openApiOptions(options.openapi ?? !isProduction()),
    logger: loggerOptions(options.logger ?? {}),
    stores: options.stores ?? memoryStores(),
    areStoresNamed: options.stores !== undefined,
    publicUrl: options.publicUrl ?? null,
  };
}

function openApiOptions(given: OpenAPIOptions | boolean): Required<OpenAPIOptions> | false {
  return given === false ? false : readOpenApiOptions(given === true ? {} : given);
}

function loggerOptions(given: Logger | LogOptions | false): Logger | LogSettings | false {
  if (given === false || "child" in given) return given;
  const { level, stream } = resolveOptions("PorticoApp.logger", pick(given), logRules);
  return stream === undefined ? { level } : { level, stream };
}

/** Keeps the two keys that are needed, because log streams in tests have more. */
function pick({ level, stream }: LogOptions): object {
  return { level, stream };
}

function readPublicUrl(value: unknown): string | typeof REFUSED {
  if (typeof value !== "string" || !URL.canParse(value)) return REFUSED;
  const { protocol, search, hash, username } = new URL(value);
  return /^https?:$/.test(protocol) && search === "" && hash === "" && username === ""
    ? value.replace(/(?<!\/)\/+$/, "")
    : REFUSED;
}

const NAMED_NETWORKS = new Set(["loopback", "linklocal", "uniquelocal"]);

function isNetwork(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const [address = "", bits, ...rest] = value.split("/");
  if (bits === undefined) return NAMED_NETWORKS.has(value) || isIP(value) !== 0;
  if (rest.length > 0 || !/^[1-9]\d*$/.test(bits) || isIP(address) === 0) return false;
  try {
    new BlockList().addSubnet(address, Number(bits), isIP(address) === 4 ? "ipv4" : "ipv6");
    return true;
  } catch {
    return false;
  }
}
