import { createClient } from "graphql-ws";
import { expect, onTestFinished } from "vitest";
import type { VersionProcess } from "./version-process.ts";

type Headers = Readonly<Record<string, string>>;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** A stored format: one version writes, and the other reads and writes on. */
export interface Format {
  readonly name: string;
  readonly title: string;
  /**
   * Rejects if `there` does not understand what `here` stored.
   *
   * @param label names the users of this call
   * @param patience how long it waits for what arrives later
   */
  readonly check: (
    here: VersionProcess,
    there: VersionProcess,
    label: string,
    patience?: { readonly timeout: number },
  ) => Promise<void>;
}

const password = "correct horse battery";

export const formats: readonly Format[] = [
  {
    name: "sessions",
    title: "links, accounts and sessions are valid, and a logout ends the session in both",
    async check(here, there, label) {
      const caller = newCaller();
      const user = await register(here, there, `${label}-session`, caller);
      const cookie = cookieOf(await caller.post(here, "/account/login", user));

      expect(await caller.nameAt(there, { cookie })).toBe(user.identifier);
      expect((await caller.post(there, "/account/logout", undefined, { cookie })).status).toBe(204);
      expect(await caller.nameAt(here, { cookie })).toBeNull();
    },
  },
  {
    name: "tokens",
    title: "access tokens and refresh tokens are valid",
    async check(here, there, label) {
      const caller = newCaller();
      const user = await register(here, there, `${label}-tokens`, caller);
      const first = (await (await caller.post(here, "/account/token", user)).json()) as Tokens;
      expect(await caller.nameAt(there, bearer(first))).toBe(user.identifier);

      const renewed = await caller.post(there, "/account/refresh", { refresh_token: first.refresh_token });
      const second = (await renewed.json()) as Tokens;
      expect(await caller.nameAt(here, bearer(second))).toBe(user.identifier);
    },
  },
  {
    name: "keys",
    title: "API keys are valid",
    async check(here, there, label) {
      const caller = newCaller();
      const user = await register(here, there, `${label}-keys`, caller);
      const tokens = (await (await caller.post(here, "/account/token", user)).json()) as Tokens;

      const created = await caller.post(here, "/account/keys", { name: "deploy" }, bearer(tokens));
      const { key } = (await created.json()) as { readonly key: string };
      expect(await caller.nameAt(there, { "x-api-key": key })).toBe(user.identifier);
    },
  },
  {
    name: "cursors",
    title: "cursors of REST and GraphQL continue their lists",
    async check(here, there) {
      const caller = newCaller();
      const rest = async (at: VersionProcess, query: string): Promise<RestPage> => {
        const response = await fetch(`${at.url}/books?${query}`);
        expect(response.status).toBe(200);
        return (await response.json()) as RestPage;
      };
      const graph = async (at: VersionProcess, after: string | null): Promise<GraphPage> => {
        const query =
          "query ($after: String) { books(first: 2, after: $after) { nodes { id } pageInfo { endCursor } } }";
        const response = await caller.post(at, "/graphql", { query, variables: { after } });
        const { data } = (await response.json()) as { readonly data: { readonly books: GraphPage } | null };
        expect(data).not.toBeNull();
        return (data as { readonly books: GraphPage }).books;
      };

      const second = await rest(there, `cursor=${(await rest(here, "")).pagination.next_cursor}`);
      expect(second.items.map(({ id }) => id)).toEqual(["book-2", "book-3"]);
      const third = await graph(
        there,
        (await graph(here, (await graph(here, null)).pageInfo.endCursor)).pageInfo.endCursor,
      );
      expect(third.nodes.map(({ id }) => id)).toEqual(["book-4", "book-5"]);
      const mixed = await graph(here, second.pagination.next_cursor);
      expect(mixed.nodes.map(({ id }) => id)).toEqual(["book-4", "book-5"]);
    },
  },
  {
    name: "events",
    title: "events arrive, and a revocation closes the socket",
    async check(here, there, label, patience) {
      const caller = newCaller();
      const user = await register(here, there, `${label}-events`, caller);
      const tokens = (await (await caller.post(there, "/account/token", user)).json()) as Tokens;
      const closed = Promise.withResolvers<unknown>();
      const client = createClient({
        url: `${there.url.replace("http", "ws")}/graphql`,
        connectionParams: bearer(tokens),
        retryAttempts: 0,
        on: { closed: (event) => closed.resolve((event as { readonly code: number }).code) },
      });
      onTestFinished(() => void client.dispose());
      const events: unknown[] = [];
      client.subscribe(
        { query: "subscription { numbers }" },
        { next: ({ data }) => void events.push(data), error: () => {}, complete: () => {} },
      );

      await expect
        .poll(async () => {
          await caller.post(here, "/numbers/7");
          return events[0];
        }, patience)
        .toEqual({ numbers: 7 });
      await caller.post(here, "/account/logout/everywhere", undefined, bearer(tokens));
      expect(await closed.promise).toBe(4403);
    },
  },
  {
    name: "counters",
    title: "rate limits count together",
    async check(here, there) {
      const caller = newCaller();
      const statuses: number[] = [];
      for (const at of [here, there, here, there]) statuses.push((await caller.post(at, "/limited")).status);

      expect(statuses).toEqual([200, 200, 200, 429]);
    },
  },
];

/**
 * The tables that one version makes are used by the other, which then runs its own migrations. Rejects if it fails to start,
 * or does not know a user of the first.
 *
 * @param start starts a process of a version that runs its migrations
 */
export async function checkMigrations(
  startFirst: () => Promise<VersionProcess>,
  startSecond: () => Promise<VersionProcess>,
): Promise<void> {
  const caller = newCaller();
  const first = await startFirst();
  try {
    const user = await register(first, first, "migrations", caller);
    const second = await startSecond();
    try {
      const tokens = (await (await caller.post(second, "/account/token", user)).json()) as Tokens;
      expect(await caller.nameAt(second, bearer(tokens))).toBe(user.identifier);
      expect(await caller.nameAt(first, bearer(tokens))).toBe(user.identifier);
    } finally {
      await second.close();
    }
  } finally {
    await first.close();
  }
}

interface RestPage {
  readonly items: readonly { readonly id: string }[];
  readonly pagination: { readonly next_cursor: string };
}

interface GraphPage {
  readonly nodes: readonly { readonly id: string }[];
  readonly pageInfo: { readonly endCursor: string };
}

interface Caller {
  post(at: VersionProcess, path: string, body?: object, headers?: Headers): Promise<Response>;
  /** The username of an authenticated caller; `null` if the credential is not valid. */
  nameAt(at: VersionProcess, headers: Headers): Promise<string | null>;
}

let callers = 0;

/** A client with its own address. */
function newCaller(): Caller {
  const address = { "x-forwarded-for": `10.1.0.${++callers}` };
  return {
    post: (at, path, body = {}, headers = {}) =>
      fetch(at.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...address, ...headers },
        body: JSON.stringify(body),
      }),
    async nameAt(at, headers) {
      const response = await fetch(`${at.url}/account/me`, { headers: { ...address, ...headers } });
      return response.status === 401 ? null : ((await response.json()) as { readonly username: string }).username;
    },
  };
}

/** Registers a user at one process, and verifies the email address at the other. */
async function register(here: VersionProcess, there: VersionProcess, username: string, caller: Caller) {
  const email = `${username}@shop.example`;
  expect((await caller.post(here, "/account/register", { username, email, password })).status).toBe(202);
  await expect.poll(() => here.mailedToken(email)).not.toBeNull();
  const verified = await caller.post(there, "/account/verify", { token: here.mailedToken(email), password });
  expect(verified.status).toBe(204);
  return { identifier: username, password };
}

function bearer({ access_token }: Tokens): Headers {
  return { authorization: `Bearer ${access_token}` };
}

function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((cookie) => cookie.split(";", 1)[0])
    .join("; ");
}
