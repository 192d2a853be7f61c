import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import * as fc from "fast-check";
import {
  AsyncDataHandler,
  AsyncListDataHandler,
  type CursorMetadata,
  CursorPagination,
  InvalidCursorError,
  KeyMisfit,
  type KeyTuple,
  type Seekable,
  type SeekRequest,
  SyncListDataHandler,
} from "portico/pagination";
import { logCatcher, manualClock } from "portico/testing";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CursorKeys } from "../../src/pagination/cursor/cursor-keys.ts";
import { keyFromBytes, keyToBytes } from "../../src/pagination/cursor/key-to-bytes.ts";
import { scopeDigest } from "../../src/pagination/cursor/scope-digest.ts";
import { openCursor, sealCursor } from "../../src/pagination/cursor/seal-cursor.ts";
import {
  type Book,
  bodyOf,
  books,
  bothWays,
  ids,
  queryOf,
  range,
  SECRET,
  type Serve,
  serveOnce,
  target,
} from "./ways.ts";

const page = (answer: Parameters<typeof bodyOf>[0]) => bodyOf<CursorMetadata>(answer);
const hundred = (serve: Serve, options: object = {}) =>
  serve((app) =>
    app.get("/items", ({ response }) => response.paginate(books(100), { strategy: "cursor", ...options } as never)),
  );

afterEach(() => {
  vi.unstubAllEnvs();
});

bothWays("cursor", (serve) => {
  it("[PAG-23] [PGS-12] [pagination:PG-065] without a cursor returns the first page and its metadata", async () => {
    const client = await hundred(serve);

    const { items, pagination } = page(await client.get("/items"));

    expect(ids({ items })).toEqual(range(1, 20));
    expect(Object.keys(pagination)).toEqual([
      "total_items",
      "page_size",
      "cursor",
      "next_cursor",
      "prev_cursor",
      "has_more",
      "links",
    ]);
    expect(pagination).toMatchObject({
      total_items: 100,
      page_size: 20,
      cursor: null,
      prev_cursor: null,
      has_more: true,
    });
  });

  it("[PAG-15] [PAG-17] [PAG-18] [PAG-19] [pagination:PG-067] supports its options", async () => {
    const client = await serve((app) =>
      app
        .get("/items", ({ response }) => response.paginate(books(150), { strategy: "cursor" }))
        .get("/named", ({ response }) =>
          response.paginate(books(100), {
            strategy: "cursor",
            cursorParam: "c",
            pageSizeParam: "s",
            defaultPageSize: 5,
            maxPageSize: 10,
          }),
        ),
    );
    const { next_cursor } = page(await client.get("/items")).pagination;
    const named = page(await client.get("/named")).pagination;

    expect(ids(page(await client.get(`/items?cursor=${next_cursor}&page_size=5`)))).toEqual(range(21, 25));
    expect(page(await client.get("/items?page_size=101")).items).toHaveLength(100);
    expect(ids(page(await client.get(`/named?c=${named.next_cursor}&s=7`)))).toEqual(range(6, 12));
    expect(page(await client.get("/named?s=11")).items).toHaveLength(10);
  });

  it("[PAG-20] [PAG-41] orders by sortField or by order", async () => {
    const rows = books(9).map((book) => ({ ...book, rank: (book.id * 4) % 9, group: book.id % 2 }));
    const client = await serve((app) =>
      app
        .get("/id", ({ response }) => response.paginate(rows.toReversed(), { strategy: "cursor" }))
        .get("/rank", ({ response }) => response.paginate(rows, { strategy: "cursor", sortField: "rank" }))
        .get("/order", ({ response }) =>
          response.paginate(rows, {
            strategy: "cursor",
            order: [
              ["group", "desc"],
              ["rank", "asc"],
            ],
          }),
        ),
    );
    const walk = async (path: string): Promise<unknown[]> => {
      const seen: unknown[] = [];
      for (let link: string | undefined = `http://x${path}?page_size=2`; link !== undefined; ) {
        const body = page(await client.get(target(link)));
        seen.push(...ids(body));
        link = body.pagination.links.next;
      }
      return seen;
    };

    expect(await walk("/id")).toEqual(range(1, 9));
    expect(await walk("/rank")).toEqual(rows.toSorted((a, b) => a.rank - b.rank).map(({ id }) => id));
    expect(await walk("/order")).toEqual(
      rows.toSorted((a, b) => b.group - a.group || a.rank - b.rank).map(({ id }) => id),
    );
  });

  it("[PAG-16] is read back unchanged from a URL that it was put into as it is, and reads as noise", async () => {
    const rows = books(60).map((book) => ({ ...book, code: `legible-${String(book.id).padStart(3, "0")}` }));
    const client = await serve((app) =>
      app.get("/items", ({ response }) => response.paginate(rows, { strategy: "cursor", sortField: "code" })),
    );
    const cursors: string[] = [];
    for (let query = ""; ; query = `?cursor=${cursors.at(-1)}`) {
      const { pagination } = page(await client.get(`/items${query}`));
      expect(pagination.cursor).toBe(cursors.at(-1) ?? null);
      if (pagination.next_cursor === null) break;
      cursors.push(pagination.next_cursor);
    }

    expect(cursors).toHaveLength(2);
    for (const cursor of cursors) {
      expect(encodeURIComponent(cursor)).toBe(cursor);
      for (const encoding of ["base64url", "hex", "latin1"] as const)
        for (const decoded of ["latin1", "utf16le"] as const)
          expect(Buffer.from(cursor, encoding).toString(decoded)).not.toContain("legible");
    }
  });

  it("[PAG-35] is unpadded base64url of version, key id, nonce, ciphertext and tag", async () => {
    const client = await serve((app) =>
      app.get("/items", ({ response }) =>
        response.paginate(
          books(60).map((book) => ({ ...book, code: `legible-${String(book.id).padStart(3, "0")}` })),
          { strategy: "cursor", sortField: "code" },
        ),
      ),
    );
    for (let link: string | undefined = "http://x/items"; link !== undefined; ) {
      const { pagination } = page(await client.get(target(link)));
      link = pagination.links.next;
      if (pagination.next_cursor === null) break;
      expect(pagination.next_cursor).toMatch(/^[A-Za-z0-9_-]+$/);
      expect(queryOf(link)["cursor"]).toBe(pagination.next_cursor);
      expect(page(await client.get(`/items?cursor=${pagination.next_cursor}`)).pagination.cursor).toBe(
        pagination.next_cursor,
      );

      const bytes = Buffer.from(pagination.next_cursor, "base64url");
      const [head, nonce, text, tag] = [
        bytes.subarray(0, 2),
        bytes.subarray(2, 14),
        bytes.subarray(14, -16),
        bytes.subarray(-16),
      ];
      const decipher = createDecipheriv("aes-256-gcm", derived("encryption"), nonce).setAAD(head).setAuthTag(tag);
      const plaintext = Buffer.concat([decipher.update(text), decipher.final()]);
      expect(bytes.toString("latin1")).not.toContain("legible");
      expect([...head]).toEqual([2, derived("id", 1)[0]]);
      expect(nonce).toEqual(
        createHmac("sha256", derived("nonce")).update(head).update(plaintext).digest().subarray(0, 12),
      );
      expect(plaintext.subarray(0, 8)).toEqual(
        scopeDigest(
          "/items",
          [
            ["code", "asc"],
            ["id", "asc"],
          ],
          undefined,
        ),
      );
      expect(keyFromBytes(plaintext, 9, plaintext.length - ((plaintext[8] as number) >> 4))).toEqual([
        expect.stringMatching(/^legible-\d+$/),
        expect.any(Number),
      ]);
    }
  });

  it("[pagination:PG-068] [pagination:PG-038] ends with the last page", async () => {
    const client = await serve((app) =>
      app.get("/items", ({ response }) => response.paginate(books(20), { strategy: "cursor" })),
    );

    const { pagination } = page(await client.get("/items"));

    expect(pagination).toMatchObject({ next_cursor: null, has_more: false });
    expect(pagination.links).not.toHaveProperty("next");
  });

  it("[pagination:PG-078] [pagination:PG-103] accepts another size with the same cursor, and ignores a page parameter", async () => {
    const client = await hundred(serve);
    const { next_cursor } = page(await client.get("/items")).pagination;

    const body = page(await client.get(`/items?cursor=${next_cursor}&page_size=3&page=7`));

    expect(ids(body)).toEqual([21, 22, 23]);
    expect(queryOf(body.pagination.links.next)).toMatchObject({ page: "7", page_size: "3" });
  });

  it.each([
    ["[pagination:PG-066]", () => ""],
    ["[ERR-33]", () => "!!!"],
    ["[ERR-33] [pagination:PG-069]", (cursor: string) => cursor.slice(0, -1)],
    ["[pagination:PG-069]", (cursor: string) => cursor.slice(0, cursor.length / 2)],
    ["[pagination:PG-069]", (cursor: string) => cursor.slice(0, 1)],
    ["[pagination:PG-072]", (cursor: string) => Buffer.from(cursor, "base64url").toString("base64")],
    ["[pagination:PG-072]", (cursor: string) => `${cursor.slice(0, 5)}+${cursor.slice(6)}`],
    ["[pagination:PG-073]", (cursor: string) => `${cursor}=`],
    ["[pagination:PG-073]", (cursor: string) => `%2541${cursor.slice(1)}`],
    ["[pagination:PG-073]", (cursor: string) => `${cursor}%0A`],
    ["[pagination:PG-073]", (cursor: string) => `%EF%BB%BF${cursor}`],
    ["[pagination:PG-074]", () => Buffer.from('{"id":20}').toString("base64url")],
    ["[PAG-38] [pagination:PG-083]", () => "A".repeat(3_000)],
    ["[pagination:PG-102]", (cursor: string) => `${cursor}&cursor=${cursor}`],
    ["[pagination:PG-071]", (cursor: string) => flipped(cursor, -1)],
  ])("%s rejects invalid cursors (%#)", async (_ids, change) => {
    const client = await hundred(serve);
    const { next_cursor } = page(await client.get("/items")).pagination;

    const answer = await client.get(`/items?cursor=${change(next_cursor ?? "")}`);

    expect(answer.json()).toMatchObject({
      status: 400,
      code: "invalid_cursor",
      parameter: "cursor",
      detail: "cursor is not a valid cursor for this list: omit it to start from the first page",
    });
  });

  it("[ERR-31] rejects a size below 1", async () => {
    const client = await hundred(serve);

    expect((await client.get("/items?page_size=0")).json()).toMatchObject({ code: "invalid_page_size" });
    expect((await client.get("/items?page_size=-1")).json()).toMatchObject({ code: "invalid_page_size" });
  });

  it("[pagination:PG-096] [pagination:PG-098] pages backward in the same order", async () => {
    const client = await hundred(serve);
    const first = page(await client.get("/items?page_size=10"));
    const second = page(await client.get(target(first.pagination.links.next)));
    const third = page(await client.get(target(second.pagination.links.next)));

    const again = page(await client.get(target(third.pagination.links.prev)));
    const short = page(await client.get(`/items?page_size=15&cursor=${again.pagination.prev_cursor}`));

    expect(again.items).toEqual(second.items);
    expect(ids(short)).toEqual(range(1, 10));
    expect(short.pagination.prev_cursor).toBeNull();
    expect(ids(page(await client.get(target(short.pagination.links.next))))).toEqual(range(11, 25));
  });
});

/** A key that the ring derives from the secret of the tests. */
function derived(purpose: "encryption" | "nonce" | "id", bytes = 32): Buffer {
  return Buffer.from(hkdfSync("sha256", SECRET, "", `portico cursor ${purpose}`, bytes));
}

function flipped(cursor: string, at: number): string {
  const bytes = Buffer.from(cursor, "base64url");
  const index = at < 0 ? bytes.length + at : at;
  bytes[index] = (bytes[index] as number) ^ 1;
  return bytes.toString("base64url");
}

describe("a cursor", () => {
  it("[PAG-36] [pagination:PG-070] with any byte or character changed is rejected", async () => {
    const client = await hundred(serveOnce);
    const cursor = page(await client.get("/items")).pagination.next_cursor as string;
    const bytes = Buffer.from(cursor, "base64url");

    const changed = [
      ...range(0, bytes.length - 1).map((at) => flipped(cursor, at)),
      ...range(0, cursor.length - 1).map((at) => {
        const other = cursor[at] === "A" ? "B" : "A";
        return cursor.slice(0, at) + other + cursor.slice(at + 1);
      }),
    ];

    for (const other of changed) {
      const answer = await client.get(`/items?cursor=${other}`);
      expect([answer.status, (answer.json() as { parameter: string }).parameter]).toEqual([400, "cursor"]);
    }
  });

  it("[PAG-37] [PAG-43] [pagination:PG-075] [pagination:PG-076] [pagination:PG-077] is bound to the list's name, order and filter, but not to the URL", async () => {
    const named = new SyncListDataHandler(books(100), { name: "books" });
    const client = await serveOnce((app) =>
      app
        .get("/a", ({ response }) => response.paginate(named, { strategy: "cursor" }))
        .get("/b", ({ response }) => response.paginate(named, { strategy: "cursor" }))
        .get("/other", ({ response }) =>
          response.paginate(new SyncListDataHandler(books(100), { name: "others" }), { strategy: "cursor" }),
        )
        .get("/down", ({ response }) => response.paginate(named, { strategy: "cursor", order: [["id", "desc"]] }))
        .get("/title", ({ response }) => response.paginate(named, { strategy: "cursor", sortField: "title" }))
        .get("/open", ({ response }) =>
          response.paginate(named, { strategy: "cursor", cursorScope: { status: "open" } }),
        )
        .get("/closed", ({ response }) =>
          response.paginate(named, { strategy: "cursor", cursorScope: { status: "closed" } }),
        )
        .get("/plain1", ({ response }) => response.paginate(books(100), { strategy: "cursor" }))
        .get("/plain2", ({ response }) => response.paginate(books(100), { strategy: "cursor" })),
    );
    const cursorOf = async (path: string) => page(await client.get(path)).pagination.next_cursor;
    const status = async (path: string, from: string) =>
      (await client.get(`${path}?cursor=${await cursorOf(from)}&q=other`)).json() as { code?: string };

    expect((await status("/b", "/a")).code).toBeUndefined();
    for (const [path, from] of [
      ["/other", "/a"],
      ["/down", "/a"],
      ["/title", "/a"],
      ["/open", "/a"],
      ["/closed", "/open"],
      ["/plain2", "/plain1"],
    ] as const)
      expect(await status(path, from)).toMatchObject({ status: 400, code: "cursor_mismatch" });
    expect((await status("/open", "/open")).code).toBeUndefined();
  });

  it.each([
    ["sets", new Set(["open"]), new Set(["closed"])],
    ["maps", new Map([["status", 1]]), new Map([["status", 2]])],
    ["addresses", new URL("http://a.example/"), new URL("http://b.example/")],
    ["numbers that JSON cannot write", Number.POSITIVE_INFINITY, null],
    ["two of those numbers", Number.POSITIVE_INFINITY, Number.NaN],
    ["large integers", 1n, 2n],
    ["dates", new Date(1), new Date(2)],
    ["lists", [1, 2], [2, 1]],
    ["nothing, in two ways", undefined, null],
    ["objects", { a: 1 }, { a: 2 }],
    ["objects of which one is empty", {}, { a: 1 }],
    ["bytes of which some are empty", new Uint8Array(), new Uint8Array([1])],
  ])("is bound to a filter that contains %s", async (_kind, one, other) => {
    const named = new SyncListDataHandler(books(100), { name: "books" });
    const client = await serveOnce((app) =>
      app
        .get("/one", ({ response }) => response.paginate(named, { strategy: "cursor", cursorScope: { by: one } }))
        .get("/other", ({ response }) => response.paginate(named, { strategy: "cursor", cursorScope: { by: other } })),
    );
    const cursor = page(await client.get("/one")).pagination.next_cursor;

    expect((await client.get(`/one?cursor=${cursor}`)).status).toBe(200);
    expect((await client.get(`/other?cursor=${cursor}`)).json()).toMatchObject({ code: "cursor_mismatch" });
  });

  it.each([
    ["a set", new Set(["a", "b"]), new Set(["b", "a"])],
    ["a map", new Map(Object.entries({ a: 1, b: 2 })), new Map(Object.entries({ b: 2, a: 1 }))],
    ["an object", { a: 1, b: 2, c: 3 }, { c: 3, a: 1, b: 2 }],
  ])("does not depend on the insertion order of %s in its filter", async (_kind, one, other) => {
    const named = new SyncListDataHandler(books(100), { name: "books" });
    const client = await serveOnce((app) =>
      [one, other].forEach((tags, at) => {
        app.get(`/${at}`, ({ response }) => response.paginate(named, { strategy: "cursor", cursorScope: { tags } }));
      }),
    );
    const cursor = page(await client.get("/0")).pagination.next_cursor;

    expect((await client.get(`/1?cursor=${cursor}`)).status).toBe(200);
  });

  it.each([
    ["RegExp", /open/],
    ["function", () => "open"],
    ["symbol", Symbol("open")],
  ])("cannot be bound to a %s, whose content cannot be compared", async (kind, by) => {
    const log = logCatcher();
    const client = await serveOnce(
      (app) =>
        app.get("/items", ({ response }) => response.paginate(books(100), { strategy: "cursor", cursorScope: { by } })),
      { logger: log },
    );

    expect((await client.get("/items")).status).toBe(500);
    expect(log.lines.map(({ msg }) => msg)).toContain(
      `cursorScope must not contain a ${kind}: pass the values themselves`,
    );
  });

  it("[pagination:PG-079] grants no access: the filter may contain the caller", async () => {
    const client = await serveOnce((app) =>
      app
        .get("/open", ({ response, request }) =>
          response.paginate(
            books(100).filter(({ id }) => id % 2 === (request.headers["x-user"] === "a" ? 0 : 1)),
            { strategy: "cursor" },
          ),
        )
        .get("/bound", ({ response, request }) =>
          response.paginate(books(100), { strategy: "cursor", cursorScope: { user: request.headers["x-user"] } }),
        ),
    );
    const as = (user: string) => ({ headers: { "x-user": user } });
    const cursorOf = async (path: string) => page(await client.get(path, as("a"))).pagination.next_cursor;

    const theirs = page(await client.get(`/open?cursor=${await cursorOf("/open")}`, as("b")));
    const refused = await client.get(`/bound?cursor=${await cursorOf("/bound")}`, as("b"));

    expect(theirs.items.every(({ id }) => id % 2 === 1)).toBe(true);
    expect(refused.json()).toMatchObject({ code: "cursor_mismatch" });
  });

  it("[PAG-39] [pagination:PG-081] is encrypted under a ring of keys: the newest encrypts, old ones decrypt until they are removed", async () => {
    const [old, fresh] = ["the ring of keys before its rotation", "the ring of keys after its rotation"];
    const before = await hundred((declare) => serveOnce(declare, { cursorKeys: [old] }));
    const during = await hundred((declare) => serveOnce(declare, { cursorKeys: [fresh, old] }));
    const after = await hundred((declare) => serveOnce(declare, { cursorKeys: [fresh] }));
    const cursor = page(await before.get("/items")).pagination.next_cursor;

    const rotated = await during.get(`/items?cursor=${cursor}`);

    expect(ids(page(rotated))).toEqual(range(21, 40));
    expect((await after.get(`/items?cursor=${page(rotated).pagination.next_cursor}`)).status).toBe(200);
    expect((await after.get(`/items?cursor=${cursor}`)).json()).toMatchObject({ code: "invalid_cursor" });
  });

  it("accepts one secret without a list, as it does a list of one", async () => {
    const secret = "one secret of at least 32 bytes, alone";
    const alone = await hundred((declare) => serveOnce(declare, { cursorKeys: secret }));
    const listed = await hundred((declare) => serveOnce(declare, { cursorKeys: [secret] }));
    const cursor = page(await alone.get("/items")).pagination.next_cursor;

    expect(ids(page(await listed.get(`/items?cursor=${cursor}`)))).toEqual(range(21, 40));
  });

  it("names the column that an order repeats, and an invalid column", () => {
    const build = (order: unknown) => () => new CursorPagination({ order } as never);

    expect(
      build([
        ["title", "asc"],
        ["id", "asc"],
        ["title", "desc"],
      ]),
    ).toThrow('received ["title", "desc"] at [2]');
    expect(build([["title", "asc"], "id"])).toThrow('received "id" at [1]');
  });

  it("[PAG-42] [pagination:PG-123] requires the key ring in production, at startup if the route declares it", async () => {
    const { PorticoApp } = await import("portico");
    const { z } = await import("zod");
    const item = z.object({ id: z.number(), title: z.string() });
    const declare = (options: object) =>
      new PorticoApp({ openapi: false, ...options }).get(
        "/items",
        { paginated: { strategy: "cursor", item } },
        ({ response }) => response.paginate(books(100), { strategy: "cursor" }),
      );
    const log = logCatcher();

    vi.stubEnv("NODE_ENV", "production");
    await expect(declare({ logger: false }).inject("/items")).rejects.toThrow(
      "PorticoApp.cursorKeys is required in production",
    );
    vi.stubEnv("NODE_ENV", "test");
    const answer = await declare({ logger: log }).inject("/items");

    expect(answer.status).toBe(200);
    expect(log.lines.filter(({ msg }) => msg.includes("random key"))).toHaveLength(1);
    expect(() => new PorticoApp({ cursorKeys: ["short"] })).toThrow(
      "PorticoApp.cursorKeys must be a secret of at least 32 bytes, or a list of them",
    );
    expect(() => new PorticoApp({ cursorKeys: [] })).toThrow("PorticoApp.cursorKeys");
  });

  it("[pagination:PG-123] without the key ring in production, undeclared, is a 500 with the reason", async () => {
    const log = logCatcher();
    vi.stubEnv("NODE_ENV", "production");
    const client = await hundred((declare) => {
      const options = { logger: log };
      return serveOnce((app) => declare(app), { ...options, cursorKeys: undefined as never });
    });

    expect((await client.get("/items")).status).toBe(500);
    expect(log.text).toContain("PorticoApp.cursorKeys");
    expect(log.lines.filter(({ msg }) => msg.includes("set publicUrl"))).toHaveLength(1);
  });

  it("[pagination:PG-080] of another version, encrypted with the same key, is rejected with its own code", async () => {
    const client = await serveOnce((app) =>
      app
        .addExceptionHandler(InvalidCursorError, (_request, response, exc) =>
          response.status(400).json({ name: exc.name, code: exc.code }),
        )
        .get("/items", ({ response }) => response.paginate(books(100), { strategy: "cursor" })),
    );
    const cursor = page(await client.get("/items")).pagination.next_cursor ?? "";
    const bytes = Buffer.from(cursor, "base64url");
    const [version = 0, id = 0] = bytes;
    const [nonce, text, tag] = [bytes.subarray(2, 14), bytes.subarray(14, -16), bytes.subarray(-16)];
    const plaintext = createDecipheriv("aes-256-gcm", derived("encryption"), nonce)
      .setAAD(Buffer.of(version, id))
      .setAuthTag(tag)
      .update(text);
    const sealed = (first: number): string => {
      const head = Buffer.of(first, id);
      const cipher = createCipheriv("aes-256-gcm", derived("encryption"), nonce).setAAD(head);
      const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
      return Buffer.concat([head, nonce, ciphertext, cipher.getAuthTag()]).toString("base64url");
    };
    expect(sealed(version)).toBe(cursor);

    for (const other of [version + 1, version - 1]) {
      const answer = await client.get(`/items?cursor=${sealed(other)}`);

      expect(answer.status).toBe(400);
      expect(answer.json()).toEqual({ name: "InvalidCursorError", code: "CURSOR_VERSION" });
    }
    expect((await client.get(`/items?cursor=${cursor}`)).status).toBe(200);
  });

  it("[pagination:PG-082] can expire", async () => {
    const clock = manualClock();
    const client = await hundred((declare) => serveOnce(declare, { clock }), { maxAgeSeconds: 60 });
    const cursor = page(await client.get("/items")).pagination.next_cursor;
    clock.advance(59_000);
    expect((await client.get(`/items?cursor=${cursor}`)).status).toBe(200);

    clock.advance(5_000);

    expect((await client.get(`/items?cursor=${cursor}`)).json()).toMatchObject({ code: "cursor_expired" });
  });

  it("[pagination:PG-083] longer than Node's header limit is 431", async () => {
    const { liveClient } = await import("portico/testing");
    const { PorticoApp } = await import("portico");
    const client = await liveClient(
      new PorticoApp({ logger: false }).get("/items", ({ response }) => response.paginate([], { strategy: "cursor" })),
    );

    const answer = await client.get(`/items?cursor=${"A".repeat(1_000_000)}`);
    await client.close();

    expect(answer.status).toBe(431);
  });
});

describe("an authentic cursor with invalid content", () => {
  const keys = new CursorKeys([SECRET]);
  const scope = scopeDigest("/items", [["id", "asc"]], undefined);
  const sealText = (plaintext: Buffer): string => {
    const bytes = Buffer.concat([Buffer.of(2), Buffer.alloc(13), plaintext, Buffer.alloc(16)]);
    keys.encrypt(bytes);
    return bytes.toString("base64url");
  };
  const seal = (payload: Buffer, flags = 0): string => sealText(Buffer.concat([scope, Buffer.of(flags), payload]));

  it.each([
    ["an empty tuple", Buffer.of(0)],
    ["nothing", Buffer.alloc(0)],
    ["two values for one column", keyToBytes([1, 2])],
    ["JSON", Buffer.from('{"__proto__":1}')],
    ["a text that ends too soon", Buffer.of(1, 5, 0, 9, 65)],
    ["an unknown tag", Buffer.of(1, 99)],
    ["bytes after the end", Buffer.concat([keyToBytes([1]), Buffer.of(0)])],
    ["NaN", Buffer.concat([Buffer.of(1, 3), Buffer.from("7ff8000000000000", "hex")])],
    ["an invalid date", Buffer.concat([Buffer.of(1, 6), Buffer.from("7ff0000000000000", "hex")])],
    ["a bigint of letters", Buffer.of(1, 4, 0, 1, 65)],
  ])("[pagination:PG-084] [pagination:PG-085] is rejected: %s", async (_title, payload) => {
    const client = await hundred(serveOnce);

    expect((await client.get(`/items?cursor=${seal(payload)}`)).json()).toMatchObject({
      status: 400,
      parameter: "cursor",
    });
  });

  it.each([
    ["nothing at all", sealText(Buffer.alloc(0))],
    ["a scope without flags", sealText(scope)],
    ["more padding than there are bytes", seal(Buffer.alloc(2), 0xf0)],
    ["a time that is cut off", seal(Buffer.alloc(3), 4)],
    ["two offsets", seal(Buffer.concat([Buffer.of(255, 255, 255, 255), keyToBytes([1, 2])]), 6)],
    [
      "an offset that is not a whole number",
      seal(Buffer.concat([Buffer.of(255, 255, 255, 255), keyToBytes([1.5])]), 6),
    ],
    ["a negative offset", seal(Buffer.concat([Buffer.of(255, 255, 255, 255), keyToBytes([-1])]), 6)],
  ])("[pagination:PG-084] is rejected: %s", async (_title, cursor) => {
    const client = await hundred(serveOnce, { maxAgeSeconds: 60 });

    expect((await client.get(`/items?cursor=${cursor}`)).json()).toMatchObject({ status: 400, code: "invalid_cursor" });
  });

  it("[pagination:PG-085] is rejected if the handler finds that its key does not fit", async () => {
    class Picky extends AsyncDataHandler<Book> implements Seekable<Book> {
      readonly uniqueKey = ["id"];
      async getTotalItems(): Promise<number> {
        return 0;
      }
      async getItems(): Promise<readonly Book[]> {
        return [];
      }
      async getItemsAfter({ key }: SeekRequest): Promise<readonly Book[]> {
        if (typeof key?.[0] !== "number") throw new KeyMisfit("id is a number");
        return [];
      }
    }
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.apaginate(new Picky(), { strategy: "cursor" })),
    );

    const answer = await client.get(`/items?cursor=${seal(keyToBytes(["letters"]))}`);

    expect(answer.json()).toMatchObject({ status: 400, code: "invalid_cursor" });
  });
});

describe("the keys of a cursor", () => {
  const value = fc.oneof(
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true }),
    fc.bigInt(),
    fc.string({ unit: "binary" }),
    fc.date({ noInvalidDate: true }),
  );
  const seal = { keys: new CursorKeys([SECRET]), scope: Buffer.alloc(8), parameter: "cursor", now: 0 };

  it("[pagination:PG-119] [pagination:PG-086] [pagination:PG-088] are restored exactly, whatever their type", () => {
    const exact: KeyTuple[] = [[9223372036854775807n], ["2024-01-01 00:00:00.123456+00"], ['"\u0000\ud800 \u{1f600}']];
    for (const key of exact) expect(keyFromBytes(keyToBytes(key))).toEqual(key);
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), fc.boolean(), (key, isForward) => {
        const position = { direction: isForward ? "forward" : "backward", at: { key } } as const;
        const cursor = sealCursor(position, seal);
        expect(openCursor(cursor, seal)).toEqual(position);
        expect(sealCursor(position, seal)).toBe(cursor);
      }),
    );
  });

  it("[pagination:PG-088] must fit into 2 kB: a longer one is a 500 whose log line names the column", async () => {
    const log = logCatcher();
    const rows = range(1, 30).map((id) => ({ id, title: "x".repeat(4_000) }));
    const client = await serveOnce(
      (app) => app.get("/items", ({ response }) => response.paginate(rows, { strategy: "cursor", sortField: "title" })),
      { logger: log },
    );

    expect((await client.get("/items")).status).toBe(500);
    expect(log.lines.find(({ level }) => level === "error")?.msg).toMatch(/ordered by title, id.*2048/);
  });

  it("[pagination:PG-115] with arbitrary bytes are 200 or 400, with at most one call of the handler", async () => {
    let calls = 0;
    class Counting extends AsyncListDataHandler<Book> {
      override async getItemsAfter(seek: SeekRequest, limit: number): Promise<readonly Book[]> {
        calls++;
        return super.getItemsAfter(seek, limit);
      }
    }
    const client = await serveOnce((app) =>
      app.get("/items", ({ response }) => response.apaginate(new Counting(books(9)), { strategy: "cursor" })),
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 60 }), fc.boolean(), async (bytes, isEncoded) => {
        calls = 0;
        const text = isEncoded
          ? Buffer.from(bytes).toString("base64url")
          : encodeURIComponent(Buffer.from(bytes).toString());
        const answer = await client.get(`/items?cursor=${text}`);
        expect(answer.status).toBe(400);
        expect(calls).toBe(0);
      }),
    );
  });

  it("[pagination:PG-101] that are missing from an item are a 500 whose log line names the field", async () => {
    const log = logCatcher();
    const client = await serveOnce(
      (app) =>
        app.get("/items", ({ response }) => response.paginate([{ title: "Emma" }], { strategy: "cursor" } as never)),
      { logger: log },
    );

    expect((await client.get("/items")).status).toBe(500);
    expect(log.lines.find(({ level }) => level === "error")?.msg).toBe(
      "the cursor strategy orders by id, but an item does not have this field",
    );
  });
});

describe("CursorPagination", () => {
  it("[PAG-41] [pagination:PG-124] accepts either sortField or order, not both", () => {
    expect(() => new CursorPagination({ sortField: "id", order: [["id", "asc"]] } as never)).toThrow(
      "CursorPagination accepts either sortField or order, not both",
    );
    for (const order of [
      [],
      [["id"]],
      [["id", "up"]],
      [
        ["id", "asc"],
        ["id", "desc"],
      ],
      "id",
    ])
      expect(() => new CursorPagination({ order } as never)).toThrow("CursorPagination.order");
  });
});
