import type { GraphQLDocument, OperationOptions } from "./graphql-document.ts";
import type {
  AnyPaths,
  ItemOf,
  ListPathOf,
  Method,
  OperationOf,
  OptionsArgument,
  PathOf,
  ResponseOf,
  RestOptions,
} from "./paths.ts";
import type { RequestOptions } from "./request.ts";
import type { SubscribeOptions } from "./subscribe.ts";
import type { SubscriptionEvent } from "./subscription-event.ts";
import type { AnyConnection, NodeOf, Walk, WalkOptions } from "./walk.ts";

/** A client for one server. `createClient` returns it. */
export interface Client<Paths = AnyPaths> {
  /** Sends GET and returns the body of the response: parsed JSON, a string for `text/*`, otherwise a `Blob`. */
  readonly get: Send<Paths, "get">;
  /** Sends POST. */
  readonly post: Send<Paths, "post">;
  /** Sends PUT. */
  readonly put: Send<Paths, "put">;
  /** Sends PATCH. */
  readonly patch: Send<Paths, "patch">;
  /** Sends DELETE. */
  readonly delete: Send<Paths, "delete">;

  /**
   * Sends a query or a mutation and returns its data. If a field failed, it rejects with the first error, and the `data` of
   * that error has the fields that were resolved. Files in the variables are uploaded.
   */
  graphql<Result, Variables>(
    document: GraphQLDocument<Result, Variables> & object,
    ...options: OptionsArgument<OperationOptions<NoInfer<Variables>>>
  ): Promise<Result>;
  graphql<Result = any>(document: string, options?: OperationOptions<AnyVariables>): Promise<Result>;

  /**
   * Walks through all items of a REST list, or of a GraphQL connection, with `for await`. A page that cannot be fetched during
   * an outage is requested again. The document of a connection has a variable `$after`.
   */
  walk<P extends ListPathOf<Paths> & keyof Paths>(
    path: P,
    ...options: OptionsArgument<RestOptions<OperationOf<Paths, P, "get">> & WalkOptions>
  ): Walk<ItemOf<ResponseOf<OperationOf<Paths, P, "get">>>, ResponseOf<OperationOf<Paths, P, "get">>>;
  walk<Result, Variables, Connection extends AnyConnection>(
    document: GraphQLDocument<Result, Variables> & object,
    options: OperationOptions<NoInfer<Variables>> & ConnectionOptions<Result, Connection>,
  ): Walk<NodeOf<Connection>, Connection>;
  walk<Connection extends AnyConnection>(
    document: string,
    options: OperationOptions<AnyVariables> & ConnectionOptions<any, Connection>,
  ): Walk<NodeOf<Connection>, Connection>;

  /**
   * Subscribes, and reconnects when the connection is lost. Break out of the loop, or abort the signal, to end the
   * subscription. It rejects if the server denies it.
   */
  subscribe<Result, Variables>(
    document: GraphQLDocument<Result, Variables> & object,
    ...options: OptionsArgument<OperationOptions<NoInfer<Variables>> & SubscribeOptions>
  ): AsyncGenerator<SubscriptionEvent<Result>, void, void>;
  subscribe<Result = any>(
    document: string,
    options?: OperationOptions<AnyVariables> & SubscribeOptions,
  ): AsyncGenerator<SubscriptionEvent<Result>, void, void>;

  /** Signs in through the account routes: stores the tokens, or lets the browser keep the session cookie. */
  signIn(credentials: SignInOptions): Promise<void>;
  /** Removes the tokens and ends the session on the server. */
  signOut(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

type AnyVariables = Readonly<Record<string, unknown>>;

/** The options of a walk through a GraphQL connection. */
export interface ConnectionOptions<Result, Connection> extends WalkOptions {
  /** Returns the connection in the data, such as `(data) => data.books`. */
  readonly connection: (data: Result) => Connection | null | undefined;
}

/** Sends a request with one method to one of the paths that have it. */
export type Send<Paths, M extends Method> = <P extends PathOf<Paths, M> & keyof Paths>(
  path: P,
  ...options: OptionsArgument<RestOptions<OperationOf<Paths, P, M>>>
) => Promise<ResponseOf<OperationOf<Paths, P, M>>>;

/** The credentials of a user. */
export interface SignInOptions extends Pick<RequestOptions, "signal"> {
  /** An email address or a username. */
  readonly identifier: string;
  readonly password: string;
  /** Whether the session lasts longer. Only for sessions. @default false */
  readonly remember?: boolean;
}
