import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { cheapHashes } from "../../../../scripts/gate/cheap-hashes.ts";
import { type Rows } from "../../../../test/system/corpus/answer.ts";
import { connections, properties } from "../../../../test/system/corpus/pagination-connections.ts";
import { changes, cursors } from "../../../../test/system/corpus/pagination-cursors.ts";
import { offsets, pageNumbers } from "../../../../test/system/corpus/pagination-pages.ts";
import { openShop } from "../open-shop.ts";
import { gates, keys, limits, passwords, resets } from "./auth-accounts.ts";
import { crossSite, refreshing, sessions } from "./auth-sessions.ts";
import { tokens, transport } from "./auth-tokens.ts";
import { bookshopLists } from "./bookshop-lists.ts";
import { batches, complexity, leaks } from "./graphql-documents.ts";
import { forgery, uploads } from "./graphql-forms.ts";
import { byGet, envelope, parameters } from "./graphql-requests.ts";
import { explorer, subscriptions } from "./graphql-streams.ts";
import { allRows, leftOutOf } from "./rows.ts";
import { ask, replayOn } from "./the-shop.ts";

process.env["PUBLIC_URL"] = "http://shop.example";
const prototypes = [Object.prototype, Array.prototype, Function.prototype];
const before = prototypes.map((prototype) => Reflect.ownKeys(prototype));
const replayed: Record<string, string[]> = { graphql: [], auth: [], pagination: [] };

beforeAll(async () => {
  // No other process verifies a password here.
  cheapHashes();
  replayOn(await openShop({ books: 125, users: 40 }));
  // A hundred books remain: none about history, and all children's books were added at the same time.
  const database = (await import("../../src/database.ts")).database.asSystem("a test");
  await sql`delete from books where genre = 'history'`.execute(database);
  await sql`update books set added_at = '2020-01-01' where genre = 'children'`.execute(database);
});

function replay(corpus: string, ...sections: readonly Rows[]): void {
  describe(`the corpus ${corpus}`, () => {
    for (const [title, run] of sections.flatMap((rows) => Object.entries(rows))) {
      replayed[corpus]?.push(title.split(" ", 1)[0] ?? "");
      it(`[bookshop] ${corpus} ${title}`, async () => {
        await run();

        expect(prototypes.map((prototype) => Reflect.ownKeys(prototype))).toEqual(before);
        expect((await ask("{__typename}")).said.data).toEqual({ __typename: "Query" });
      });
    }
  });
}

replay("graphql", envelope, parameters, byGet, forgery, complexity, leaks, batches, uploads, subscriptions, explorer);
const paging = [pageNumbers, offsets, cursors, connections, properties, changes];
replay("pagination", ...paging.map((rows) => rows(bookshopLists)));
replay("auth", tokens, transport, sessions, refreshing, crossSite, passwords, limits, resets, keys, gates);

describe("the rows", () => {
  it.each(Object.keys(allRows))("of the corpus %s are either replayed or left out for a reason", (corpus) => {
    const here = [...(replayed[corpus] ?? []), ...leftOutOf(corpus)];
    expect([...new Set(here)]).toHaveLength(here.length);
    expect(new Set(here)).toEqual(new Set(allRows[corpus]));
  });
});
