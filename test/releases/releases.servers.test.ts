import { globSync } from "node:fs";
import { createClient } from "graphql-ws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { newPrefix } from "../redis/redis-server.ts";
import { removeKeys } from "../redis/remove-keys.ts";
import { migratedPlace, type Place } from "../sql/accounts/databases.ts";
import { type UnpackedRelease, unpack, VersionProcess } from "./version-process.ts";

type Headers = Readonly<Record<string, string>>;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

const password = "correct horse battery";
const releases = globSync("*.tgz", { cwd: import.meta.dirname });
const cases = releases.flatMap((file) => [
  { file, stores: "Redis" as const },
  { file, stores: "PostgreSQL" as const },
]);

it("keeps a release", () => {
  expect(releases).toContain("portico-0.0.0.tgz");
});

describe.each(cases)("$file beside the sources, with stores in $stores", ({ file, stores }) => {
  let release: UnpackedRelease;
  let place: Place;
  let old: VersionProcess;
  let current: VersionProcess;
  const prefix = newPrefix();
  beforeAll(async () => {
    place = await migratedPlace("PostgreSQL");
    const database = place.open<any>({ poolSize: 2 });
    await database.schema.createTable("books").addColumn("id", "text").addColumn("title", "text").execute();
    const rows = Array.from({ length: 6 }, (_, n) => ({ id: `book-${n}`, title: `Title ${n >> 1}` }));
    await database.insertInto("books").values(rows).execute();
    release = unpack(file);
    [old, current] = (await Promise.all(
      [release.entryPoints, new URL("../../src/", import.meta.url)].map((version) =>
        VersionProcess.start(version, { database: place.url, prefix, stores }),
      ),
    )) as [VersionProcess, VersionProcess];
  });
  afterAll(async () => {
    await Promise.all([old?.close(), current?.close()]);
    await place?.remove();
    await removeKeys(prefix);
    release?.remove();
  });

  describe.each([
    ["the release", "the sources", () => [old, current] as const],
    ["the sources", "the release", () => [current, old] as const],
  ])("from %s to %s", (from, _to, processes) => {
    const name = from.replaceAll(" ", "-");

    it("links, accounts and sessions are valid, and a logout ends the session in both", async () => {
      const [here, there] = processes();
      const caller = newCaller();
      const user = await register(here, there, `${name}-session`, caller);
      const cookie = cookieOf(await caller.post(here, "/account/login", user));

      expect(await caller.nameAt(there, { cookie })).toBe(user.identifier);
      expect((await caller.post(there, "/account/logout", undefined, { cookie })).status).toBe(204);
      expect(await caller.nameAt(here, { cookie })).toBeNull();
    });

    it("access tokens, refresh tokens and API keys are valid", async () => {
      const [here, there] = processes();
      const caller = newCaller();
      const user = await register(here, there, `${name}-tokens`, caller);
      const first = (await (await caller.post(here, "/account/token", user)).json()) as Tokens;
      expect(await caller.nameAt(there, bearer(first))).toBe(user.identifier);

      const renewed = await caller.post(there, "/account/refresh", { refresh_token: first.refresh_token });
      const second = (await renewed.json()) as Tokens;
      expect(await caller.nameAt(here, bearer(second))).toBe(user.identifier);

      const created = await caller.post(here, "/account/keys", { name: "deploy" }, bearer(second));
      const { key } = (await created.json()) as { readonly key: string };
      expect(await caller.nameAt(there, { "x-api-key": key })).toBe(user.identifier);
    });

    it("cursors of REST and GraphQL continue their lists", async () => {
      const [here, there] = processes();
      const caller = newCaller();
      const rest = async (at: VersionProcess, query: string): Promise<RestPage> =>
        (await (await fetch(`${at.url}/books?${query}`)).json()) as RestPage;
      const graph = async (at: VersionProcess, after: string | null): Promise<GraphPage> => {
        const query =
          "query ($after: String) { books(first: 2, after: $after) { nodes { id } pageInfo { endCursor } } }";
        const response = await caller.post(at, "/graphql", { query, variables: { after } });
        return ((await response.json()) as { readonly data: { readonly books: GraphPage } }).data.books;
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
    });

    it("events arrive, and a revocation closes the socket", async () => {
      const [here, there] = processes();
      const caller = newCaller();
      const user = await register(here, there, `${name}-events`, caller);
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
        })
        .toEqual({ numbers: 7 });
      await caller.post(here, "/account/logout/everywhere", undefined, bearer(tokens));
      expect(await closed.promise).toBe(4403);
    });

    it("rate limits count together", async () => {
      const [here, there] = processes();
      const caller = newCaller();
      const statuses: number[] = [];
      for (const at of [here, there, here, there]) statuses.push((await caller.post(at, "/limited")).status);

      expect(statuses).toEqual([200, 200, 200, 429]);
    });
  });
});

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
  const verified = await caller.post(there, "/account/verify", { token: here.mailedToken(email) });
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
