import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import type { Secret } from "../../core/key-ring.ts";
import type { Logger } from "../../core/logger.ts";
import { CursorKeys } from "../../pagination/cursor/cursor-keys.ts";
import { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import type { AnyStrategy } from "../../pagination/strategies/strategy-by-name.ts";

/** The parts of a route that describe its list. */
interface PagedRoute {
  readonly path: string;
  readonly paginated?: { readonly strategy: AnyStrategy };
  readonly hasCursors?: boolean;
  readonly idempotent?: object;
  readonly responseStores?: readonly object[];
}

/** The state that the paginated lists of an application share: their cursor keys, and the warnings that were logged. */
export class Paging {
  readonly #log: Logger;
  readonly #hasPublicUrl: boolean;
  readonly #told = new Set<string>();
  /** The declared strategies, by path pattern. */
  readonly #declared = new Map<string, readonly AnyStrategy[]>();
  #keys: CursorKeys | null;

  constructor(secrets: readonly Secret[] | undefined, log: Logger, hasPublicUrl: boolean) {
    this.#keys = secrets === undefined ? null : new CursorKeys(secrets);
    this.#log = log;
    this.#hasPublicUrl = hasPublicUrl;
  }

  /** Without secrets a random key, which other processes do not know; in production that is an error. */
  get keys(): CursorKeys {
    if (this.#keys === null) {
      if (isProduction())
        throw new ConfigurationError(
          "PorticoApp.cursorKeys",
          "is required in production when a cursor strategy, idempotent or a subscription with from is used: cursors, stored responses and positions must stay valid after a restart",
        );
      this.#log.warn(
        {},
        "cursors and stored responses are encrypted with a random key: set cursorKeys to keep them valid after a restart",
      );
      this.#keys = CursorKeys.random();
    }
    return this.#keys;
  }

  /** Checks at startup that everything the declared lists need is configured, and the key for stored responses. */
  check(routes: readonly PagedRoute[]): void {
    for (const { path, paginated } of routes) {
      if (paginated !== undefined) this.#declared.set(path, [...(this.#declared.get(path) ?? []), paginated.strategy]);
    }
    const declared = [...this.#declared.values()].flat();
    if (declared.length > 0) this.checkPublicUrl();
    const hasCursors =
      declared.some((strategy) => strategy instanceof CursorPagination) || routes.some((route) => route.hasCursors);
    const keepsResponses = routes.some(
      ({ idempotent, responseStores = [] }) => idempotent !== undefined || responseStores.length > 0,
    );
    if (hasCursors || keepsResponses) void this.keys;
  }

  /** Outside production, warns if a handler uses another strategy than its route, and so the OpenAPI document, declares. */
  checkDeclared(pattern: string, used: AnyStrategy): void {
    const declared = this.#declared.get(pattern);
    if (declared === undefined || declared.includes(used) || isProduction()) return;
    if (declared.some((strategy) => isAlike(strategy, used))) return;
    const names = new Set(declared.map((strategy) => strategy.constructor.name));
    const name = used.constructor.name;
    const difference = names.has(name) ? `${name} with other options` : name;
    this.warn(`paginated declares ${[...names].join(" and ")}, but the handler uses ${difference}`, pattern);
  }

  checkPublicUrl(): void {
    if (isProduction() && !this.#hasPublicUrl)
      this.#once("page links use the host name that the request claims: set publicUrl", {});
  }

  /** Outside production, warns once per place about something that is valid but probably a mistake. */
  warn(sentence: string, place: string): void {
    if (!isProduction()) this.#once(sentence, { route: place });
  }

  #once(sentence: string, details: object): void {
    const line = `${sentence} ${JSON.stringify(details)}`;
    if (this.#told.has(line) || this.#told.size > MAX_LINES) return;
    this.#told.add(line);
    this.#log.warn(details, sentence);
  }
}

/** Whether the OpenAPI document would describe both alike. */
function isAlike(one: AnyStrategy, other: AnyStrategy): boolean {
  return one.constructor === other.constructor && JSON.stringify(one.describe()) === JSON.stringify(other.describe());
}

const MAX_LINES = 1_000;
