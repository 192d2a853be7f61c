import { ConfigurationError } from "../../core/configuration-error.ts";
import { isProduction } from "../../core/env.ts";
import type { Logger } from "../../core/logger.ts";
import { CursorKeys } from "../../pagination/cursor/cursor-keys.ts";
import { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import type { AnyStrategy } from "../../pagination/strategies/strategy-by-name.ts";

/** What is read of a route: the list that it declares. */
interface PagedRoute {
  readonly path: string;
  readonly paginated?: { readonly strategy: AnyStrategy };
  readonly hasCursors?: boolean;
}

/** What the paginated lists of an application share: the keys of their cursors, and what they tell its author once. */
export class Paging {
  readonly #log: Logger;
  readonly #hasPublicUrl: boolean;
  readonly #told = new Set<string>();
  /** What the routes of a pattern declare. */
  readonly #declared = new Map<string, readonly AnyStrategy[]>();
  #keys: CursorKeys | null;

  constructor(secrets: readonly string[] | undefined, log: Logger, hasPublicUrl: boolean) {
    this.#keys = secrets === undefined ? null : new CursorKeys(secrets);
    this.#log = log;
    this.#hasPublicUrl = hasPublicUrl;
  }

  /** Without secrets a ring that no other process knows; in production that is refused. */
  get keys(): CursorKeys {
    if (this.#keys === null) {
      if (isProduction())
        throw new ConfigurationError(
          "PorticoApp.cursorKeys",
          "is required in production when a cursor strategy is used: cursors must stay valid after a restart",
        );
      this.#log.warn({}, "cursors are encrypted with a random key: set cursorKeys to keep them valid after a restart");
      this.#keys = CursorKeys.random();
    }
    return this.#keys;
  }

  /** At the start: what the declared lists need must be there. */
  check(routes: readonly PagedRoute[]): void {
    for (const { path, paginated } of routes) {
      if (paginated !== undefined) this.#declared.set(path, [...(this.#declared.get(path) ?? []), paginated.strategy]);
    }
    const declared = [...this.#declared.values()].flat();
    if (declared.length > 0) this.checkPublicUrl();
    const hasCursors =
      declared.some((strategy) => strategy instanceof CursorPagination) || routes.some((route) => route.hasCursors);
    if (hasCursors) void this.keys;
  }

  /** Outside production: tells where a handler answers with other pages than its route declares, and so its document. */
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

  /** Tells what is legal and hardly meant, once for each place, outside production. */
  warn(sentence: string, place: string): void {
    if (!isProduction()) this.#once(sentence, { route: place });
  }

  #once(sentence: string, details: object): void {
    const line = `${sentence} ${JSON.stringify(details)}`;
    if (this.#told.has(line) || this.#told.size > MOST_LINES) return;
    this.#told.add(line);
    this.#log.warn(details, sentence);
  }
}

/** Whether a document would say the same of both. */
function isAlike(one: AnyStrategy, other: AnyStrategy): boolean {
  return one.constructor === other.constructor && JSON.stringify(one.describe()) === JSON.stringify(other.describe());
}

const MOST_LINES = 1_000;
