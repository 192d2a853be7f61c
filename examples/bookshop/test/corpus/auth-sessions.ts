import { expect } from "vitest";
import { type Header, type Rows } from "../../../../test/system/corpus/answer.ts";
import { listeners, password } from "../open-shop.ts";
import { stored } from "./stored.ts";
import {
  ANONYMOUS,
  as,
  bearer,
  cookieIn,
  credentials,
  newAddress,
  newcomer,
  type Pair,
  post,
  send,
  sessionOf,
  theShop,
  tokensOf,
  whoIs,
} from "./the-shop.ts";

const cookie = (value: string): Header => ["cookie", value];
const NAME = "__Host-portico_session";
const logout = (value: string): Promise<unknown> => post("/account/logout", {}, [cookie(value)]);
interface Device {
  readonly id: string;
  readonly current: boolean;
  readonly device: string;
}
const devices = async (value: string): Promise<readonly Device[]> =>
  (await send("/account/sessions", { headers: [cookie(value)] })).said as unknown as readonly Device[];

/** C. Sessions and cookies */
export const sessions: Rows = {
  async "AU-063 one character changed"() {
    const value = await sessionOf("reader8");
    for (const at of [NAME.length + 5, value.length - 3])
      expect(await whoIs(cookie(`${value.slice(0, at)}${value[at] === "A" ? "B" : "A"}${value.slice(at + 1)}`))).toBe(
        ANONYMOUS,
      );
  },
  async "AU-064 no signature"() {
    const value = await sessionOf("reader8");
    expect(await whoIs(cookie(value.slice(0, value.lastIndexOf("."))))).toBe(ANONYMOUS);
  },
  async "AU-065 an id that was there before"() {
    const before = await sessionOf("reader8");
    const after = await sessionOf("reader8", password, [cookie(before)]);
    expect([after === before, await whoIs(cookie(before)), await whoIs(cookie(after))]).toEqual([
      false,
      ANONYMOUS,
      "200 reader8",
    ]);
  },
  async "AU-067 a new password is a new id"() {
    const { secret } = await newcomer("au067");
    const before = await sessionOf("au067", secret);
    const body = { current_password: secret, new_password: "quite another secret" };
    const after = cookieIn(await post("/account/password", body, [cookie(before)], newAddress()));
    expect([after === before, await whoIs(cookie(before)), await whoIs(cookie(after))]).toEqual([
      false,
      ANONYMOUS,
      "200 au067",
    ]);
  },
  async "AU-068 a cookie after logout"() {
    const value = await sessionOf("reader8");
    await logout(value);
    expect(await whoIs(cookie(value))).toBe(ANONYMOUS);
  },
  async "AU-069 a device that another shows out"() {
    const [phone, laptop] = [await sessionOf("reader9"), await sessionOf("reader9")];
    for (const { id, current } of await devices(laptop))
      if (!current) await send(`/account/sessions/${id}`, { method: "DELETE", headers: [cookie(laptop)] });
    expect([await whoIs(cookie(phone)), await whoIs(cookie(laptop))]).toEqual([ANONYMOUS, "200 reader9"]);
  },
  async "AU-073 what the stores hold of a session is not a valid cookie"() {
    const value = await sessionOf("reader8");
    const held = await stored();
    const id = value.slice(value.indexOf("=") + 1).split(".")[0] ?? "";
    expect([id.length > 20, held.some((text) => text.includes(id))]).toEqual([true, false]);
    const names = held.filter((text) => text.includes("session")).flatMap((text) => text.split(":").slice(-1));
    for (const name of names.slice(0, 20)) expect(await whoIs(cookie(`${NAME}=${name}`))).toBe(ANONYMOUS);
  },
  async "AU-074 two cookies of that name"() {
    const value = await sessionOf("reader8");
    expect(await whoIs(cookie(`${value}; ${NAME}=x`))).toBe(ANONYMOUS);
  },
  async "AU-075 what the cookie carries"() {
    const answer = await post("/account/login", { identifier: "reader8", password }, [], newAddress());
    cookieIn(answer);
    const line = answer.cookies[0] ?? "";
    expect(line).toMatch(/^__Host-portico_session=/);
    for (const attribute of ["Secure", "HttpOnly", "Path=/", "SameSite=Lax"]) expect(line).toContain(attribute);
    expect(line).not.toContain("Domain");
  },
  async "AU-076 invalid cookies"() {
    const many = Array.from({ length: 200 }, (_, i) => `c${i}=1`).join("; ");
    for (const value of [`${NAME}=${"x".repeat(5_000)}`, many, `${NAME}=%00`, `${NAME}=%ZZ`, "__proto__=1"])
      expect(await whoIs(cookie(value))).toBe(ANONYMOUS);
  },
  async "AU-079 a login as another user"() {
    const first = await sessionOf("reader8");
    const second = await sessionOf("reader9", password, [cookie(first)]);
    expect([await whoIs(cookie(first)), await whoIs(cookie(second))]).toEqual([ANONYMOUS, "200 reader9"]);
  },
  async "AU-081 a new password"() {
    const { secret } = await newcomer("au081");
    const [other, mine] = [await sessionOf("au081", secret), await sessionOf("au081", secret)];
    const family = await tokensOf("au081", secret);
    const changed = await post(
      "/account/password",
      { current_password: secret, new_password: "quite another secret" },
      [cookie(mine)],
      newAddress(),
    );
    expect([changed.status, await whoIs(cookie(other)), await whoIs(cookie(cookieIn(changed)))]).toEqual([
      204,
      ANONYMOUS,
      "200 au081",
    ]);
    expect((await post("/account/refresh", { refresh_token: family.refresh_token })).status).toBe(401);
  },
  async "AU-082 a disabled user"() {
    const { User } = await import("../../src/accounts/user.ts");
    const { secret } = await newcomer("au082");
    const value = await sessionOf("au082", secret);
    const user = await User.objects.get({ username: "au082" });
    if (user !== null) await User.objects.disable(user);
    expect(await whoIs(cookie(value))).toBe(ANONYMOUS);
  },
  async "AU-084 nothing of a session is kept"() {
    const login = await post("/account/login", { identifier: "reader8", password }, [], newAddress());
    const me = await send("/account/me", { headers: [cookie(cookieIn(login))] });
    for (const { headers } of [login, me])
      expect([headers["cache-control"], headers["vary"]]).toEqual([
        expect.stringContaining("no-store"),
        expect.stringContaining("Cookie"),
      ]);
  },
  async "AU-085 the list of devices holds nothing to sign in with"() {
    const value = await sessionOf("reader10");
    for (const { id } of await devices(value))
      expect([value.includes(id), await whoIs(cookie(`${NAME}=${id}`))]).toEqual([false, ANONYMOUS]);
  },
  async "AU-086 a device of another user"() {
    const [mine, theirs] = [await sessionOf("reader10"), await sessionOf("reader11")];
    const id = (await devices(theirs)).find(({ current }) => current)?.id;
    const answer = await send(`/account/sessions/${id}`, { method: "DELETE", headers: [cookie(mine)] });
    expect([answer.status, await whoIs(cookie(theirs))]).toEqual([404, "200 reader11"]);
  },
  async "AU-087 a User-Agent of 10 kB"() {
    const value = await sessionOf("reader11", password, [["user-agent", `<b>${"x".repeat(10_000)}`]]);
    expect((await devices(value)).find(({ current }) => current)?.device.length).toBeLessThanOrEqual(120);
  },
};

const refresh = (token: string, headers: readonly Header[] = []) =>
  post("/account/refresh", { refresh_token: token }, headers, newAddress());
const renewed = async (token: string): Promise<Pair> => {
  const answer = await refresh(token);
  expect(answer.verdict).toBe("200");
  const pair = answer.said as unknown as Pair;
  credentials.add(pair.refresh_token).add(pair.access_token);
  return pair;
};

/** D. Refresh tokens */
export const refreshing: Rows = {
  async "AU-088 the first use"() {
    const first = await tokensOf("reader12");
    const second = await renewed(first.refresh_token);
    expect([second.refresh_token === first.refresh_token, await whoIs(bearer(second.access_token))]).toEqual([
      false,
      "200 reader12",
    ]);
  },
  async "AU-090 ten at once"() {
    const { refresh_token } = await tokensOf("reader12");
    const pairs = await Promise.all(Array.from({ length: 10 }, () => renewed(refresh_token)));
    expect(new Set(pairs.map((pair) => pair.refresh_token)).size).toBe(1);
  },
  async "AU-091 again before the successor is used"() {
    const { refresh_token } = await tokensOf("reader12");
    const [one, two] = [await renewed(refresh_token), await renewed(refresh_token)];
    expect(two.refresh_token).toBe(one.refresh_token);
  },
  async "AU-092 invalid tokens"() {
    const { refresh_token } = await tokensOf("reader12");
    const bodies = [];
    for (const wrong of [
      "x",
      `${refresh_token.slice(0, -1)}${refresh_token.endsWith("A") ? "B" : "A"}`,
      `zz${refresh_token.slice(2)}`,
    ])
      bodies.push((await refresh(wrong)).text.replace(/"correlation_id":"[^"]*"/, ""));
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).toContain('"status":401');
  },
  async "AU-093 an access token"() {
    expect((await refresh((await tokensOf("reader12")).access_token)).status).toBe(401);
  },
  async "AU-094 after a new password"() {
    const { secret } = await newcomer("au094");
    const pair = await tokensOf("au094", secret);
    await post(
      "/account/password",
      { current_password: secret, new_password: "quite another secret" },
      [bearer(pair.access_token)],
      newAddress(),
    );
    expect((await refresh(pair.refresh_token)).status).toBe(401);
  },
  async "AU-097 the token is written down nowhere"() {
    const { refresh_token } = await tokensOf("reader12");
    const answer = await refresh(refresh_token);
    expect([answer.headers["cache-control"], theShop().log.text.includes(refresh_token)]).toEqual([
      expect.stringContaining("no-store"),
      false,
    ]);
  },
};

const FOREIGN: Header = ["origin", "https://evil.example"];
const order = (...headers: Header[]) => post("/orders", { books: [{ book: "book-16" }] }, headers);

/** I. Forgery */
export const crossSite: Rows = {
  async "AU-161 a session of another site's page"() {
    const value = cookie(await sessionOf("reader13"));
    expect((await order(value, FOREIGN)).status).toBe(403);
    expect((await order(value, ["sec-fetch-site", "cross-site"])).status).toBe(403);
    expect((await order(await as("reader13"), FOREIGN)).status).toBe(201);
  },
  async "AU-162 the origin null, and no browser"() {
    const value = cookie(await sessionOf("reader13"));
    expect([(await order(value, ["origin", "null"])).status, (await order(value)).status]).toEqual([403, 201]);
  },
  async "AU-163 a sibling"() {
    const value = cookie(await sessionOf("reader13"));
    expect((await order(value, ["origin", "http://evil.shop.example"], ["sec-fetch-site", "same-site"])).status).toBe(
      403,
    );
  },
  async "AU-164 forms that pose as JSON, methods that pose as others"() {
    const value = cookie(await sessionOf("reader13"));
    const body = JSON.stringify({ books: [{ book: "book-16" }] });
    for (const type of ["text/plain", "application/x-www-form-urlencoded"])
      expect((await send("/orders", { headers: [value, ["content-type", type]], body })).status).toBe(415);
    const posed = await send("/orders", { headers: [value, ["x-http-method-override", "POST"]] });
    expect([posed.status, posed.said.items !== undefined]).toEqual([200, true]);
  },
  async "AU-165 GET where something changes"() {
    for (const path of ["login", "logout", "refresh"]) expect((await send(`/account/${path}`)).status).toBe(405);
  },
  async "AU-166 a mutation over GET"() {
    const query = encodeURIComponent('mutation{placeOrder(books:[{book:"book-16"}]){id}}');
    expect((await send(`/graphql?query=${query}`, { headers: [cookie(await sessionOf("reader13"))] })).status).toBe(
      405,
    );
  },
  async "AU-167 a socket with an invalid credential"() {
    const altered = `${(await sessionOf("reader13")).slice(0, -2)}xx`;
    for (const headers of [{ authorization: "Bearer nonsense" }, { cookie: altered }])
      await expect(
        theShop().client.socket("/graphql", { headers, protocols: ["graphql-transport-ws"] }),
      ).rejects.toMatchObject({ response: { status: 401 } });
  },
  async "AU-168 a socket of another site's page"() {
    const headers = { cookie: await sessionOf("reader13"), origin: "https://evil.example" };
    await expect(
      theShop().client.socket("/graphql", { headers, protocols: ["graphql-transport-ws"] }),
    ).rejects.toMatchObject({ response: { status: 403 } });
  },
  async "AU-169 a session that ends while its socket is open"() {
    const value = await sessionOf("reader13");
    const socket = await theShop().client.socket("/graphql", {
      headers: { cookie: value },
      protocols: ["graphql-transport-ws"],
    });
    socket.send('{"type":"connection_init"}');
    await socket.next();
    await logout(value);
    expect((await socket.closed).code).toBe(4403);
  },
  async "AU-173 a stream whose session ends"() {
    const value = await sessionOf("reader13");
    const stream = theShop().client.subscribe(
      'subscription{stockChanged(book:"book-2")}',
      {},
      { headers: { cookie: value } },
    );
    const first = stream[Symbol.asyncIterator]().next();
    await expect.poll(() => listeners("stock.book-2"), { timeout: 60_000 }).toBe(1);
    await logout(value);
    await first.catch(() => {});
    await expect.poll(() => listeners("stock.book-2"), { timeout: 60_000 }).toBe(0);
  },
  async "AU-170 a token in connection_init, and in the address"() {
    const [, authorization] = await as("staff");
    const query = "subscription{orderPlaced{id}}";
    const said = async (path: string, payload: object): Promise<string> => {
      const socket = await theShop().client.socket(path, { protocols: ["graphql-transport-ws"] });
      socket.send(JSON.stringify({ type: "connection_init", payload }));
      await socket.next();
      socket.send(JSON.stringify({ type: "subscribe", id: "1", payload: { query } }));
      const first = await Promise.race([
        socket.next(),
        new Promise<string>((resolve) => setTimeout(() => resolve("listening"), 300)),
      ]);
      socket.close();
      return first;
    };
    expect(await said("/graphql", { authorization })).toBe("listening");
    expect(await said(`/graphql?access_token=${authorization.slice(7)}`, {})).toContain("UNAUTHENTICATED");
  },
};
