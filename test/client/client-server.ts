import {
  type Client,
  type ClientOptions,
  createClient,
  memoryTokens,
  type PorticoClientError,
  type TokenStore,
  type Tokens,
} from "portico-client";
import { onTestFinished } from "vitest";
import { type ClientApp, type ClientAppOptions, clientApp, credentials } from "./client-app.ts";

export interface ClientServer extends ClientApp {
  readonly url: string;
}

/** Starts the application in this process, on a free port, until the test ends. */
export async function clientServer(options: ClientAppOptions = {}): Promise<ClientServer> {
  const built = await clientApp(options);
  onTestFinished(() => built.close());
  const { url } = await built.app.listen({ port: 0 });
  return { ...built, url };
}

export interface SignedIn {
  readonly client: Client;
  readonly tokens: TokenStore;
  /** The reasons that `onSignOut` was called with. */
  readonly signOuts: (PorticoClientError | null)[];
}

/** A client that has signed in with tokens. */
export async function signedIn(url: string, options: Partial<ClientOptions> = {}): Promise<SignedIn> {
  const [tokens, signOuts] = [memoryTokens(), [] as (PorticoClientError | null)[]];
  const client = createClient({ url, tokens, onSignOut: (reason) => void signOuts.push(reason), ...options });
  await client.signIn(credentials);
  return { client, tokens, signOuts };
}

/** Replaces the access token by one that the server rejects. The client cannot know that it is invalid. */
export async function spoil(tokens: TokenStore): Promise<void> {
  const kept = (await tokens.get()) as Tokens;
  await tokens.set({ ...kept, accessToken: "not.a.token" });
}

/** A `fetch` that keeps the responses of refreshes until they are released. */
export function heldRefresh(): {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly arrived: Promise<void>;
  readonly release: () => void;
} {
  const [held, arrived] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  return {
    arrived: arrived.promise,
    release: held.resolve,
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (!url.endsWith("/refresh")) return response;
      arrived.resolve();
      await held.promise;
      return response;
    },
  };
}
