import { createClient } from "graphql-ws";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { fillTables, listeners, password } from "./open-shop.ts";
import { type Running, roundRobin, startProcess } from "./shop-process.ts";
import { cookieOf, type Headers } from "./sign-in.ts";

let north: Running;
let south: Running;
let proxy: Running;
beforeAll(async () => {
  await fillTables({ books: 10, users: 5 });
  [north, south] = await Promise.all([startProcess(), startProcess()]);
  proxy = await roundRobin([north, south]);
});
afterAll(async () => {
  for (const running of [proxy, north, south]) await running?.close();
});

async function post({ url }: Running, path: string, body: object, headers: Headers = {}): Promise<Response> {
  return fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}
async function byToken(shop: Running, identifier: string): Promise<Headers> {
  const answer = await post(shop, "/account/token", { identifier, password });
  const { access_token } = (await answer.json()) as { readonly access_token: string };
  return { authorization: `Bearer ${access_token}` };
}
async function bySession(shop: Running, identifier: string): Promise<Headers> {
  const answer = await post(shop, "/account/login", { identifier, password });
  return { cookie: cookieOf(answer.headers.getSetCookie()) };
}
async function nameAt(shop: Running, headers: Headers): Promise<string | null> {
  const answer = await post(shop, "/graphql", { query: "{ me { username } }" }, headers);
  const { data } = (await answer.json()) as { readonly data: { readonly me: { readonly username: string } | null } };
  return data.me?.username ?? null;
}

/** Tries to sign in. */
const attempt = (shop: Running): Promise<Response> =>
  post(shop, "/account/login", { identifier: "reader5", password: "not that" });

describe("two processes on the same PostgreSQL and Redis", () => {
  it.each([
    ["a session", bySession],
    ["a token", byToken],
  ])("recognise users who signed in at the other, by %s", async (_way, signIn) => {
    const headers = await signIn(north, "reader1");

    expect(await nameAt(south, headers)).toBe("reader1");
  });

  it("behind a proxy act as one shop: a signed-in user is recognised by both", async () => {
    const headers = await bySession(proxy, "reader3");

    expect(await Promise.all(Array.from({ length: 6 }, () => nameAt(proxy, headers)))).toEqual(
      Array(6).fill("reader3"),
    );
  });

  it("apply a session revocation from the other, and close its sockets", async () => {
    const [phone, laptop] = [await bySession(north, "staff"), await bySession(south, "staff")];
    const [closed] = await openSocket(north, phone);

    const list = await fetch(`${south.url}/account/sessions`, { headers: laptop });
    const devices = (await list.json()) as { readonly id: string; readonly current: boolean }[];
    for (const { id, current } of devices)
      if (!current) await fetch(`${south.url}/account/sessions/${id}`, { method: "DELETE", headers: laptop });

    expect([await nameAt(north, phone), await nameAt(north, laptop)]).toEqual([null, "staff"]);
    expect(await closed).toBe(4403);
  });

  it("apply a new password immediately, which signs the user out at the other", async () => {
    const headers = await byToken(north, "reader2");

    const changed = await post(
      south,
      "/account/password",
      { current_password: password, new_password: "another secret of mine" },
      await bySession(south, "reader2"),
    );

    expect(changed.status).toBe(204);
    expect(await nameAt(north, headers)).toBeNull();
  });

  it("receive the orders of the other", async () => {
    const client = createClient({
      url: `${north.url.replace("http", "ws")}/graphql`,
      connectionParams: await byToken(south, "staff"),
      retryAttempts: 0,
    });
    onTestFinished(() => void client.dispose());
    const first = client.iterate({ query: "subscription { orderPlaced { buyer } }" }).next();
    await expect.poll(() => listeners("orders.placed"), { timeout: 60_000 }).toBe(1);

    await post(south, "/orders", { books: [{ book: "book-1" }] }, await byToken(south, "reader1"));

    expect((await first).value).toMatchObject({ data: { orderPlaced: { buyer: "reader1" } } });
  });

  it("accept the cursors of the other", async () => {
    interface Page {
      readonly items: readonly { readonly id: string }[];
      readonly pagination: { readonly next_cursor: string };
    }
    const page = async (shop: Running, query: string): Promise<Page> =>
      (await (await fetch(`${shop.url}/books/newest?page_size=2${query}`)).json()) as Page;
    const first = await page(north, "");

    const second = await page(south, `&cursor=${first.pagination.next_cursor}`);

    expect(second.items.map(({ id }) => id)).toEqual(["book-8", "book-7"]);
  });

  it("count login attempts together", async () => {
    for (const shop of [north, south, north, south, north]) expect((await attempt(shop)).status).toBe(401);

    const refused = await attempt(south);

    expect(await refused.json()).toMatchObject({ status: 429, code: "rate_limited" });
  });

  it("shut down gracefully", async () => {
    const third = await startProcess();

    expect(await third.close()).toEqual([0, null]);
  });
});

/** Opens an acknowledged GraphQL socket with a session. Returns a promise of its close code. */
async function openSocket({ url }: Running, headers: Headers): Promise<Promise<number>[]> {
  // Unlike a browser's client, Node's accepts headers.
  const socket = new WebSocket(`${url.replace("http", "ws")}/graphql`, {
    protocols: ["graphql-transport-ws"],
    headers: { ...headers },
  });
  socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "connection_init" })));
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  await new Promise((resolve) => socket.addEventListener("message", resolve, { once: true }));
  return [closed];
}
