import type { Client } from "./client.ts";
import { eventStream } from "./event-stream.ts";
import { type AnyOperationOptions, graphqlThrough, PREFLIGHT } from "./graphql.ts";
import type { AnyPaths } from "./paths.ts";
import type { PorticoClientError } from "./portico-client-error.ts";
import { printDocument } from "./print-document.ts";
import { type Headers, requestTo } from "./request.ts";
import { type AnyRestOptions, restThrough } from "./rest.ts";
import { socketEvents } from "./socket-events.ts";
import { type SubscribeOptions, subscribe } from "./subscribe.ts";
import type { Resuming } from "./subscription-event.ts";
import { readTokens, TokenKeeper } from "./token-keeper.ts";
import type { TokenStore, Tokens } from "./token-store.ts";
import { type AnyConnectionOptions, walkConnection, walkList } from "./walk.ts";

/** Options for `createClient`. */
export interface ClientOptions {
  /** The address of the server, with the path that the application is mounted at, if there is one. */
  readonly url: string;
  /** Where to keep tokens. @default the client has no tokens, and sends the session cookie of the browser */
  readonly tokens?: TokenStore;
  /** Called when the tokens were removed: with the error of the failed refresh, or with `null` after `signOut()`. */
  readonly onSignOut?: (reason: PorticoClientError | null) => void;
  /** Headers of every request, such as `x-api-key`, or a function that returns them. */
  readonly headers?: Headers;
  /** The path of the GraphQL endpoint. @default "/graphql" */
  readonly graphql?: string;
  /** The path of the account routes. @default "/account" */
  readonly accounts?: string;
  /**
   * The requests that the server accepts an idempotency key for, such as `POST /orders` and `mutation placeOrder`: the list that
   * `portico client` writes to `idempotent.ts`. The client sends a key with each of them, and sends it again after an outage.
   * @default none
   */
  readonly idempotent?: readonly string[];
  /** How subscriptions are sent. @default "sse" */
  readonly transport?: "sse" | "websocket";
  /**
   * The seconds of silence after which the connection of a subscription is replaced; 0 disables the limit. With `"sse"` it must
   * be longer than the server's `pingSeconds`. @default 30
   */
  readonly idleSeconds?: number;
  /** Sends the requests. @default the global `fetch` */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/**
 * Creates a client for one Portico server. `Paths` are the types of its REST API, which `portico client` writes.
 *
 * @example
 * ```ts
 * import { createClient, memoryTokens } from "portico-client";
 *
 * const client = createClient({ url: "https://api.shop.example", tokens: memoryTokens() });
 * await client.signIn({ identifier: "ann", password: "correct horse battery" });
 * const book = await client.get("/books/{id}", { path: { id: "book-1" } });
 * const { me } = await client.graphql<{ me: { username: string } }>("{ me { username } }");
 * ```
 */
export function createClient<Paths extends object = AnyPaths>(options: ClientOptions): Client<Paths> {
  const { tokens: store, headers, onSignOut = ignore, graphql: endpoint = "/graphql", accounts = "/account" } = options;
  const { transport = "sse", idleSeconds = 30 } = options;
  const url = options.url.replace(/\/+$/, "");
  // Called through the global object, so that a fetch that is replaced later is used.
  const fetch = options.fetch ?? ((address, init) => globalThis.fetch(address, init));
  const request = requestTo({ url, hasSession: store === undefined, headers, fetch });
  const keeper = store && new TokenKeeper({ store, request, accounts, lock: `portico-client ${url}`, onSignOut });
  const tokens: Pick<TokenKeeper, "run"> = keeper ?? { run: (work) => work(null) };
  const idempotent = new Set(options.idempotent);
  const rest = restThrough(request, tokens, idempotent);
  const graphql = graphqlThrough(request, tokens, endpoint, idempotent);
  const method = (name: string) => (path: string, given?: AnyRestOptions) => rest(name, path, given);
  const client: Client = {
    get: method("GET"),
    post: method("POST"),
    put: method("PUT"),
    patch: method("PATCH"),
    delete: method("DELETE"),
    graphql,
    walk: ((list: unknown, given?: AnyRestOptions & AnyConnectionOptions) =>
      given?.connection === undefined
        ? walkList(rest, String(list), given)
        : walkConnection(graphql, list, given)) as Client["walk"],
    subscribe(document: unknown, given: AnyOperationOptions & SubscribeOptions = {}) {
      const extensions: Resuming = {};
      const body = { query: printDocument(document), variables: given.variables, extensions };
      const connect =
        transport === "sse"
          ? eventStream(request, endpoint, body, { ...PREFLIGHT, ...given.headers }, idleSeconds)
          : socketEvents(url + endpoint, body, headers, idleSeconds);
      return subscribe(connect, keeper, given, extensions);
    },
    async signIn({ identifier, password, remember, signal }) {
      const body = { identifier, password, ...(remember === undefined ? {} : { remember }) };
      const path = `${accounts}/${keeper ? "token" : "login"}`;
      const read = keeper ? readTokens : () => null;
      const fresh = await request<Tokens | null>({ method: "POST", path, body, signal }, read);
      if (fresh !== null) await store?.set(fresh);
    },
    async signOut({ signal } = {}) {
      const kept = await store?.get();
      await keeper?.forget(null);
      const body = kept && { refresh_token: kept.refreshToken };
      await request(
        { method: "POST", path: `${accounts}/logout`, body, token: kept?.accessToken ?? null, signal },
        ignore,
      );
    },
  };
  return client as unknown as Client<Paths>;
}

function ignore(): void {}
