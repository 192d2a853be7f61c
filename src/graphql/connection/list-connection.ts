import { inField } from "../../kernel/hooks/current-field.ts";
import type { Filters } from "../../pagination/filter/filters.ts";
import type { AnyHandler } from "../../pagination/handlers/data-handler.ts";
import { isAgreed } from "../../pagination/handlers/list-scope.ts";
import { RuleDisagreement } from "../../pagination/handlers/rule-disagreement.ts";
import { runLater, type Steps, wait } from "../../pagination/handlers/steps.ts";
import type { Order } from "../../pagination/keys/order.ts";
import { CursorList, type Window } from "../../pagination/pages/cursor-list.ts";
import { askedTotal, reportedTotal } from "../../pagination/pages/offset-page.ts";
import type { PageRequest } from "../../pagination/pages/page-request.ts";
import { InvalidPageError } from "../../pagination/query/pagination-error.ts";
import type { CursorPagination } from "../../pagination/strategies/cursor-pagination.ts";
import { asUserInput, type ConnectionArgs, readWanted, type Wanted } from "./connection-args.ts";
import { connectionWindow } from "./connection-window.ts";

/** The order and the filters that the client chose. The handler applies the filters. */
export interface ListChoice {
  readonly order: Order | undefined;
  readonly filters: Filters | null;
  /** Returns the error of a filter if it caused this error of the source, or else the error itself. */
  readonly blamed: (error: unknown) => unknown;
}

/** The value of a connection: rows are fetched, counted and sealed into cursors only if a query selects them. */
export class ListConnection<T> {
  readonly #strategy: CursorPagination<any, any>;
  readonly #list: CursorList<T>;
  readonly #request: PageRequest;
  readonly #wanted: Wanted;
  readonly #blamed: ListChoice["blamed"];
  #window: Promise<AgreedWindow<T>> | undefined;

  constructor(
    strategy: CursorPagination<any, any>,
    handler: AnyHandler<T>,
    request: PageRequest,
    args: ConnectionArgs,
    { order, filters, blamed }: ListChoice,
  ) {
    this.#strategy = strategy;
    this.#list = new CursorList(strategy, handler, request, order, filters);
    this.#request = request;
    this.#blamed = blamed;
    this.#wanted = readWanted(strategy, this.#list, args);
  }

  async edges(): Promise<readonly Edge<T>[]> {
    const window = await this.#read();
    return window.items.map((node, index) => new Edge(window, index, node));
  }

  async nodes(): Promise<readonly T[]> {
    const { items } = await this.#read();
    return items;
  }

  async pageInfo(): Promise<PageInfo> {
    const window = await this.#read();
    if (window.disagreement !== undefined) throw window.disagreement;
    return new PageInfo(window);
  }

  /** Counts the items, because the query selected the total. Returns `null` if the strategy has no totals. */
  async totalCount(): Promise<number | null> {
    const { totals = "exact" } = this.#strategy;
    // A rule without a condition decides about each item, so the items cannot be counted.
    if (totals === "none" || this.#request.scope?.condition === null) return null;
    const total = await this.#run(askedTotal(this.#list.handler, totals, this.#request)).catch((error: unknown) => {
      throw asUserInput(this.#blamed(error), "filter");
    });
    if (total > 0) await this.#check();
    return reportedTotal(total, totals, 0).reported;
  }

  /** Throws if `where` includes an item that `allows` refuses, because the total counts it. */
  async #check(): Promise<void> {
    const { scope } = this.#request;
    if (scope === undefined) return;
    const { disagreement, items } = await this.#read();
    if (disagreement !== undefined) throw disagreement;
    const { handler } = this.#list;
    if (items.length === 0 && !(await this.#run(isAgreed(handler, handler, scope, items))))
      throw new RuleDisagreement(scope.name);
  }

  #read(): Promise<AgreedWindow<T>> {
    this.#window ??= this.#run(this.#steps());
    return this.#window;
  }

  /** Reads on behalf of the connection itself, not of the field of its page that was selected first. */
  #run<R>(steps: Steps<R>): Promise<R> {
    return inField({ coordinate: this.#request.place, isConnection: true }, () => runLater(steps));
  }

  *#steps(): Steps<AgreedWindow<T>> {
    const { parameter, near, size } = this.#wanted;
    try {
      const window = yield* this.#agreed();
      if (this.#strategy.outOfRange === "error" && near !== null && size > 0 && window.items.length === 0)
        throw new InvalidPageError(`${parameter} is beyond the last page`, { parameter });
      return window;
    } catch (error) {
      const cause = this.#blamed(error);
      throw asUserInput(cause, cause === error ? parameter : "filter");
    }
  }

  /** Replaces the items that `where` includes and `allows` refuses by an error, and logs the rule. */
  *#agreed(isAgain = false): Steps<AgreedWindow<T>> {
    const { scope } = this.#request;
    const window = yield* connectionWindow(this.#list, this.#wanted, this.#request);
    if (scope === undefined) return window;
    const { items } = window;
    const allowed = yield* wait(scope.allows(items));
    if (allowed.every((isAllowed) => isAllowed)) return window;
    // A row may have changed after it was read and before the rule looked at it, so the page is read once more.
    if (!isAgain) return yield* this.#agreed(true);
    const disagreement = new RuleDisagreement(scope.name);
    const shown = items.map((item, at) => (allowed[at] === true ? item : (disagreement as T)));
    return { ...window, items: shown, disagreement };
  }
}

/** A window of which a rule has looked at every item. Where its halves disagree, totals and positions are withheld too. */
interface AgreedWindow<T> extends Window<T> {
  readonly disagreement?: RuleDisagreement;
}

/** An item and its cursor. The cursor is sealed only when it is read. */
export class Edge<T> {
  readonly node: T;
  readonly #window: Window<T>;
  readonly #index: number;
  constructor(window: Window<T>, index: number, node: T) {
    this.node = node;
    this.#window = window;
    this.#index = index;
  }
  get cursor(): string {
    return this.#window.cursorAt(this.#index, "forward");
  }
}

/** The position of a page in its list. */
export class PageInfo {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly #window: Window<unknown>;
  constructor(window: Window<unknown>) {
    this.hasNextPage = window.hasNext;
    this.hasPreviousPage = window.hasPrevious;
    this.#window = window;
  }
  get startCursor(): string | null {
    return this.#window.items.length === 0 ? null : this.#window.cursorAt(0, "forward");
  }
  get endCursor(): string | null {
    const { items, cursorAt } = this.#window;
    return items.length === 0 ? null : cursorAt(items.length - 1, "forward");
  }
}
