import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type {
  AcceptOptions,
  BodyWatcher,
  HttpExchange,
  Payload,
  RawPath,
  RawQuery,
  RawSocket,
  UpgradeExchange,
} from "../../kernel/exchange/exchange.ts";

/** An upgrade that delegates to another exchange, except for the members that a subclass overrides. */
export abstract class DelegatedExchange implements UpgradeExchange {
  protected abstract readonly inner: HttpExchange;
  abstract accept(options: AcceptOptions): Promise<RawSocket>;

  get method(): string {
    return this.inner.method;
  }
  get target(): string {
    return this.inner.target;
  }
  get headers(): IncomingHttpHeaders {
    return this.inner.headers;
  }
  get rawHeaders(): readonly string[] {
    return this.inner.rawHeaders;
  }
  get params(): RawPath {
    return this.inner.params;
  }
  get query(): RawQuery {
    return this.inner.query;
  }
  get ip(): string {
    return this.inner.ip;
  }
  get host(): string {
    return this.inner.host;
  }
  get protocol(): string {
    return this.inner.protocol;
  }
  get isUnpacked(): boolean {
    return this.inner.isUnpacked;
  }
  get isInjected(): boolean {
    return this.inner.isInjected;
  }
  body(): Readable {
    return this.inner.body();
  }
  watchBody(watcher: BodyWatcher): void {
    this.inner.watchBody(watcher);
  }
  get isGone(): boolean {
    return this.inner.isGone;
  }
  arrivedBody(): Buffer | null {
    return this.inner.arrivedBody();
  }
  onAbort(abort: () => void): void {
    this.inner.onAbort(abort);
  }
  send(status: number, headers: Readonly<Record<string, string | readonly string[]>>, payload: Payload): void {
    this.inner.send(status, headers, payload);
  }
  cut(error: unknown): void {
    this.inner.cut(error);
  }
  breakOff(error: unknown): boolean {
    return this.inner.breakOff(error);
  }
}
