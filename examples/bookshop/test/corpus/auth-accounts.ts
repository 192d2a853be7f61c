import { inspect } from "node:util";
import { sql } from "kysely";
import { expect } from "vitest";
import { type Answer, type Header, type Rows } from "../../../../test/system/corpus/answer.ts";
import { password } from "../open-shop.ts";
import { stored } from "./stored.ts";
import {
  ANONYMOUS,
  as,
  ask,
  bearer,
  credentials,
  newAddress,
  newcomer,
  post,
  send,
  sessionOf,
  theShop,
  tokensOf,
  whoIs,
} from "./the-shop.ts";

const login = (
  identifier: unknown,
  secret: unknown,
  from = newAddress(),
  headers: readonly Header[] = [],
): Promise<Answer> => post("/account/login", { identifier, password: secret }, headers, from);
const register = (body: object): Promise<Answer> => post("/account/register", body, [], newAddress());
/** Returns a body without its random parts. */
const shape = (answer: Answer): string => answer.text.replace(/"correlation_id":"[^"]*"/, "");
const LIMITED = "429 rate_limited";
const REFUSED = "401 invalid_credentials";
const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

/** E. Login and passwords */
export const passwords: Rows = {
  async "AU-098 all failures are alike"() {
    const answers = [
      await login("unknown-user", "wrong wrong"),
      await login("reader14", "wrong wrong"),
      await login("au082", password),
    ];
    expect(answers.map(({ verdict }) => verdict)).toEqual([REFUSED, REFUSED, REFUSED]);
    expect(new Set(answers.map(shape)).size).toBe(1);
    expect(new Set(answers.map(({ headers }) => Object.keys(headers).join())).size).toBe(1);
  },
  async "AU-102 passwords that are too long"() {
    expect([
      (await login("reader14", "x".repeat(1024 ** 2))).status,
      (await login("reader14", "x".repeat(1_025))).status,
    ]).toEqual([413, 422]);
  },
  async "AU-104 passwords that are not strings"() {
    for (const wrong of [1, [], {}, null, undefined]) {
      const [known, unknown] = [await login("reader14", wrong), await login("unknown-user", wrong)];
      expect([known.status, shape(known)]).toEqual([400, shape(unknown)]);
    }
  },
  async "AU-105 names that are not strings"() {
    expect((await login({ $ne: null }, password)).status).toBe(400);
    expect((await login(["a", "b"], password)).status).toBe(400);
  },
  async "AU-106 one password in two forms of Unicode"() {
    const secret = "caf\u00e9 au lait ole";
    await newcomer("au106", secret);
    expect((await login("au106", secret.normalize("NFD"))).status).toBe(200);
  },
  async "AU-107 NUL cuts nothing"() {
    await newcomer("au107", "abcdefgh\0ijkl");
    expect([(await login("au107", "abcdefgh")).status, (await login("au107", "abcdefgh\0ijkl")).status]).toEqual([
      401, 200,
    ]);
  },
  async "AU-109 blanks stay in a password, and go from an address"() {
    const { email } = await newcomer("au109", "  blanks around  ");
    expect([
      (await login(` ${email} `, "  blanks around  ")).status,
      (await login(email, "blanks around")).status,
    ]).toEqual([200, 401]);
  },
  async "AU-110 one address in two spellings"() {
    const { email, secret } = await newcomer("au110");
    expect((await login(email.toUpperCase(), secret)).status).toBe(200);
    const before = theShop().mails.length;
    await post("/account/password/reset", { email: email.toUpperCase() }, [], newAddress());
    await expect.poll(() => theShop().mails.length).toBe(before + 1);
    expect(theShop().mails.at(-1)?.to).toBe(email);
  },
  async "AU-112 an invalid stored hash"() {
    const database = (await import("../../src/database.ts")).database.asSystem("a test");
    await newcomer("au112");
    for (const hash of ["garbage", "$argon2id$v=19$m=4294967295,t=3,p=4$c2FsdHNhbHQ$aGFzaGhhc2hoYXNo"]) {
      await sql`update users set password_hash = ${hash} where username = 'au112'`.execute(database);
      expect((await login("au112", "a long enough secret")).verdict).toBe(REFUSED);
    }
  },
  async "AU-115 a common password"() {
    expect((await register({ email: "au115@shop.example", username: "au115", password: "password123" })).verdict).toBe(
      "422 password_too_common",
    );
  },
  async "AU-116 a password that is the name, the address or the title"() {
    for (const secret of ["au116-name", "au116@shop.example", "Bookshop"])
      expect((await register({ email: "au116@shop.example", username: "au116-name", password: secret })).verdict).toBe(
        "422 password_too_common",
      );
  },
  async "AU-117 members that clients may not set"() {
    const body = {
      email: "au117@shop.example",
      username: "au117",
      password: "a long enough secret",
      is_admin: true,
      permissions: ["grant:roles"],
      roles: ["admin"],
      id: "x",
    };
    expect((await register(body)).status).toBe(202);
    const { access_token } = await tokensOf("au117", body.password);
    const me = await ask("{me{id roles}}", {}, [bearer(access_token)]);
    expect(me.said.data).toMatchObject({ me: { id: expect.not.stringMatching(/^x$/), roles: ["reader"] } });
  },
  async "AU-118 an address that is taken, and two at once"() {
    const taken = await register({
      email: "reader14@shop.example",
      username: "au118a",
      password: "a long enough secret",
    });
    const fresh = await register({
      email: "au118b@shop.example",
      username: "au118b",
      password: "a long enough secret",
    });
    expect([taken.status, shape(taken)]).toEqual([fresh.status, shape(fresh)]);
    const body = { email: "au118c@shop.example", username: "au118c", password: "a long enough secret" };
    const both = await Promise.all([register(body), register(body)]);
    expect(both.map(({ status }) => status).every((status) => status === 202 || status === 409)).toBe(true);
    const { database } = await import("../../src/database.ts");
    expect(await database.selectFrom("users").select("id").where("username", "=", "au118c").execute()).toHaveLength(1);
  },
  async "AU-120 a long session after logout"() {
    const answer = await post("/account/login", { identifier: "reader15", password, remember: true }, [], newAddress());
    const cookie: Header = ["cookie", answer.cookies[0]?.split(";")[0] ?? ""];
    expect(await whoIs(cookie)).toBe("200 reader15");
    await post("/account/logout", {}, [cookie]);
    expect(await whoIs(cookie)).toBe(ANONYMOUS);
  },
  async "AU-121 a login by another site's page"() {
    expect((await login("reader15", password, newAddress(), [["origin", "https://evil.example"]])).status).toBe(403);
  },
  async "AU-122 no redirect to another site"() {
    for (const next of ["//evil", "https:evil", "/\\evil", "javascript:1"]) {
      const answer = await post(
        `/account/login?next=${encodeURIComponent(next)}`,
        { identifier: "reader15", password },
        [],
        newAddress(),
      );
      expect([answer.status, answer.headers["location"]]).toEqual([200, undefined]);
    }
  },
  async "AU-194 7 bytes are too few, 8 are not"() {
    const body = { email: "au194@shop.example", username: "au194" };
    expect((await register({ ...body, password: "k7#pQ2x" })).verdict).toBe("422 password_too_short");
    expect((await register({ ...body, password: "k7#pQ2xv" })).status).toBe(202);
  },
};
const mailed = (): number => theShop().mails.filter(({ to }) => to === "reader20@shop.example").length;

/** F. Rate limits */
export const limits: Rows = {
  async "AU-126 the sixth failure of an account from an address"() {
    for (const name of ["reader16", "unknown-name"]) {
      const from = newAddress();
      for (let i = 0; i < 5; i++) expect((await login(name, "wrong wrong", from)).verdict).toBe(REFUSED);
      const sixth = await login(name, "wrong wrong", from);
      expect([sixth.verdict, Number(sixth.headers["retry-after"]) > 0]).toEqual([LIMITED, true]);
      expect((await login(name, password, from)).verdict).toBe(LIMITED);
    }
  },
  async "AU-127 many accounts from one address"() {
    const from = newAddress();
    const verdicts = await Promise.all(
      Array.from({ length: 25 }, async (_, i) => (await login(`stuffed-${i}`, "wrong wrong", from)).verdict),
    );
    expect([
      verdicts.filter((verdict) => verdict === REFUSED).length,
      verdicts.filter((verdict) => verdict === LIMITED).length,
    ]).toEqual([20, 5]);
  },
  async "AU-128 one account from many addresses"() {
    const verdicts: string[] = [];
    for (let i = 0; i < 52; i++) verdicts.push((await login("distributed", "wrong wrong")).verdict);
    expect(verdicts.filter((verdict) => verdict === LIMITED)).toHaveLength(2);
  },
  async "AU-129 X-Forwarded-For of anybody"() {
    const from = newAddress();
    const verdicts = [];
    for (let i = 0; i < 6; i++)
      verdicts.push((await login("reader17", "wrong wrong", from, [["x-forwarded-for", `9.9.9.${i}`]])).verdict);
    expect(verdicts.at(-1)).toBe(LIMITED);
  },
  async "AU-131 X-Forwarded-For that is garbage"() {
    const from = newAddress();
    const verdicts = [];
    for (let i = 0; i < 6; i++)
      verdicts.push((await login("reader17", "wrong wrong", from, [["x-forwarded-for", `garbage-${i}, ,`]])).verdict);
    expect(verdicts.at(-1)).toBe(LIMITED);
  },
  async "AU-133 spellings of one account"() {
    const from = newAddress();
    const verdicts = [];
    for (const name of ["reader18", "READER18", " reader18 ", "Reader18", "\uff52eader18", "reader18"])
      verdicts.push((await login(name, "wrong wrong", from)).verdict);
    expect(verdicts.at(-1)).toBe(LIMITED);
  },
  async "AU-134 many guesses at once"() {
    const from = newAddress();
    const verdicts = await Promise.all(
      Array.from({ length: 40 }, async () => (await login("reader18", "wrong wrong", from)).verdict),
    );
    expect(verdicts.filter((verdict) => verdict === REFUSED).length).toBeLessThanOrEqual(5);
  },
  async "AU-135 a success forgets the account's failures"() {
    const from = newAddress();
    for (let i = 0; i < 4; i++) await login("reader19", "wrong wrong", from);
    expect((await login("reader19", password, from)).status).toBe(200);
    for (let i = 0; i < 4; i++) expect((await login("reader19", "wrong wrong", from)).verdict).toBe(REFUSED);
  },
  async "AU-138 many mails for one account"() {
    const from = newAddress();
    const statuses = [];
    for (let i = 0; i < 11; i++)
      statuses.push((await post("/account/password/reset", { email: "reader20@shop.example" }, [], from)).status);
    await settled();
    expect([statuses.slice(0, 10).every((status) => status === 202), statuses[10], mailed()]).toEqual([true, 429, 3]);
  },
  async "AU-139 a flood of refreshes"() {
    let { refresh_token } = await tokensOf("reader21");
    for (let i = 0; i < 10; i++) {
      const answer = await post("/account/refresh", { refresh_token }, [], newAddress());
      expect(answer.status).toBe(200);
      refresh_token = (answer.said as unknown as { refresh_token: string }).refresh_token;
      credentials.add(refresh_token);
    }
    expect((await post("/account/refresh", { refresh_token }, [], newAddress())).verdict).toBe(LIMITED);
  },
  async "AU-140 limits are on here, too"() {
    const from = newAddress();
    for (let i = 0; i < 10; i++) await post("/account/password/reset", { email: "unknown@shop.example" }, [], from);
    expect((await post("/account/password/reset", { email: "unknown@shop.example" }, [], from)).verdict).toBe(LIMITED);
  },
};

async function resetLink(name: string): Promise<string> {
  const before = theShop().mails.length;
  await post("/account/password/reset", { email: `${name}@shop.example` }, [], newAddress());
  await expect.poll(() => theShop().mails.length).toBe(before + 1);
  const token = new URL(theShop().mails.at(-1)?.url ?? "").searchParams.get("token") ?? "";
  credentials.add(token);
  return token;
}
const confirm = (token: string, secret = "quite another secret", from = newAddress()): Promise<Answer> =>
  post("/account/password/reset/confirm", { token, password: secret }, [], from);
const INVALID = "400 link_invalid";

/** G. Reset and verification */
export const resets: Rows = {
  async "AU-142 an unknown address"() {
    const [known, unknown] = [
      await post("/account/password/reset", { email: "reader22@shop.example" }, [], newAddress()),
      await post("/account/password/reset", { email: "none@shop.example" }, [], newAddress()),
    ];
    expect([known.status, shape(known)]).toEqual([202, shape(unknown)]);
    await settled();
  },
  async "AU-143 tokens that are used, old, or none"() {
    const old = await resetLink("reader23");
    const token = await resetLink("reader23");
    expect((await confirm(token)).status).toBe(204);
    const answers = [await confirm(token), await confirm(old), await confirm("made-up")];
    expect([answers.map(({ verdict }) => verdict), new Set(answers.map(shape)).size]).toEqual([
      [INVALID, INVALID, INVALID],
      1,
    ]);
    await settled();
  },
  async "AU-144 two at once"() {
    const token = await resetLink("reader24");
    const statuses = (await Promise.all([confirm(token), confirm(token)]))
      .map(({ status }) => status)
      .toSorted((a, b) => a - b);
    expect(statuses).toEqual([204, 400]);
    await settled();
  },
  async "AU-145 guesses"() {
    const from = newAddress();
    const verdicts = [];
    for (let i = 0; i < 11; i++) verdicts.push((await confirm(`guess-${i}`, "quite another secret", from)).verdict);
    expect([verdicts[9], verdicts[10]]).toEqual([INVALID, LIMITED]);
  },
  async "AU-146 what the stores hold of a token"() {
    const token = await resetLink("reader29");
    expect((await stored()).some((text) => text.includes(token))).toBe(false);
  },
  async "AU-147 the token of a link is not logged"() {
    const token = await resetLink("reader25");
    await send(`/new-password?token=${token}`);
    expect(theShop().log.text).not.toContain(token);
  },
  async "AU-148 a Host that is made up"() {
    const before = theShop().mails.length;
    await post("/account/password/reset", { email: "reader26@shop.example" }, [["host", "evil.example"]], newAddress());
    await expect.poll(() => theShop().mails.length).toBe(before + 1);
    expect(theShop().mails.at(-1)?.url).toMatch(/^http:\/\/shop\.example\//);
  },
  async "AU-150 another address"() {
    const { secret } = await newcomer("au150");
    const cookie: Header = ["cookie", await sessionOf("au150", secret)];
    const link = await resetLink("au150");
    const body = { email: "au150-new@shop.example" };
    // An old sign-in needs another clock, which Portico's own tests have.
    expect((await post("/account/email", body, [], newAddress())).status).toBe(401);
    expect((await post("/account/email", body, [cookie], newAddress())).status).toBe(202);
    await expect.poll(() => theShop().mails.at(-1)?.kind).toBe("change_email");
    const token = new URL(theShop().mails.at(-1)?.url ?? "").searchParams.get("token") ?? "";
    credentials.add(token);
    expect(theShop().mails.at(-1)?.to).toBe(body.email);
    expect((await post("/account/email/confirm", { token }, [cookie], newAddress())).status).toBe(204);
    await expect.poll(() => theShop().mails.at(-1)).toMatchObject({ kind: "email_changed", to: "au150@shop.example" });
    expect((await confirm(link)).verdict).toBe(INVALID);
  },
  async "AU-149 after a reset"() {
    const cookie: Header = ["cookie", await sessionOf("reader27")];
    const pair = await tokensOf("reader27");
    const made = await post("/account/keys", { name: "robot" }, [cookie]);
    const robot: Header = ["x-api-key", (made.said as unknown as { key: string }).key];
    credentials.add(robot[1]);
    expect(await whoIs(robot)).toBe("200 reader27");
    const answer = await confirm(await resetLink("reader27"));
    expect([answer.status, answer.cookies]).toEqual([204, []]);
    expect([await whoIs(cookie), await whoIs(robot), await whoIs(bearer(pair.access_token))]).toEqual([
      ANONYMOUS,
      ANONYMOUS,
      ANONYMOUS,
    ]);
    await expect.poll(() => theShop().mails.at(-1)?.kind).toBe("password_changed");
  },
};

let session: Promise<string> | undefined;
/** Keys require a recent sign-in, which a token does not prove. */
function staffSession(): Promise<string> {
  session ??= sessionOf("staff");
  return session;
}
const makeKey = async (body: object = {}): Promise<{ id: string; header: Header }> => {
  const answer = await post("/account/keys", { name: "robot", ...body }, [["cookie", await staffSession()]]);
  expect(answer.status, answer.text).toBe(201);
  const { id, key } = answer.said as unknown as { id: string; key: string };
  credentials.add(key);
  return { id, header: ["x-api-key", key] };
};

/** H. API keys */
export const keys: Rows = {
  async "AU-151 a wrong checksum"() {
    const [name, key] = (await makeKey()).header;
    expect(await whoIs([name, `${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`])).toBe(ANONYMOUS);
  },
  async "AU-152 the secret of another key"() {
    const [one, two] = [(await makeKey()).header, (await makeKey()).header];
    const [[prefix, id], [, , secret]] = [one[1].split("_"), two[1].split("_")];
    expect(await whoIs(["x-api-key", `${prefix}_${id}_${secret}`])).toBe(ANONYMOUS);
  },
  async "AU-153 keys that have expired or were revoked"() {
    const [short, gone] = [await makeKey({ expires_in: 1 }), await makeKey()];
    await send(`/account/keys/${gone.id}`, { method: "DELETE", headers: [await as("staff")] });
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect([await whoIs(short.header), await whoIs(gone.header)]).toEqual([ANONYMOUS, ANONYMOUS]);
  },
  async "AU-154 a key without a permission that its owner has"() {
    const { header } = await makeKey({ permissions: ["write:reviews"] });
    expect((await send("/books/stock", { headers: [header] })).status).toBe(403);
  },
  async "AU-155 a key makes no key"() {
    const { header } = await makeKey();
    expect((await post("/account/keys", { name: "child" }, [header])).status).toBe(403);
  },
  async "AU-156 a key for another user, and for an unknown one"() {
    const { header } = await makeKey({ user_id: "admin" });
    expect([await whoIs(header), (await post("/account/keys", { name: "x" })).status]).toEqual(["200 staff", 401]);
  },
  async "AU-157 a key in the query or in a cookie"() {
    const [, key] = (await makeKey()).header;
    expect([(await send(`/account/me?api_key=${key}`)).verdict, await whoIs(["cookie", `x-api-key=${key}`])]).toEqual([
      ANONYMOUS,
      ANONYMOUS,
    ]);
  },
  async "AU-158 the list shows no key"() {
    const [, key] = (await makeKey()).header;
    const list = await send("/account/keys", { headers: [await as("staff")] });
    expect([list.text.includes(key), list.text.includes(key.slice(-4))]).toEqual([false, true]);
  },
  async "AU-159 when a key was used"() {
    const { id, header } = await makeKey();
    const usedAt = async (): Promise<unknown> => {
      const list = (await send("/account/keys", { headers: [await as("staff")] })).said as unknown as {
        id: string;
        last_used_at: string | null;
      }[];
      return list.find((entry) => entry.id === id)?.last_used_at;
    };
    await whoIs(header);
    await expect.poll(usedAt).toEqual(expect.any(String));
    const first = await usedAt();
    await whoIs(header);
    expect(await usedAt()).toBe(first);
  },
};

/** J. Gates, errors, leaks, and the rest of I */
export const gates: Rows = {
  async "AU-195 a gate that asks the user, and an anonymous caller"() {
    const answer = await ask('{book(by:{id:"book-1"}){costCents title}}');
    expect([answer.verdict, answer.said.data]).toEqual([
      "200 UNAUTHENTICATED",
      { book: { costCents: null, title: expect.any(String) } },
    ]);
  },
  async "AU-180 100 MB to a gated route"() {
    const headers: Header[] = [
      ["content-type", "application/json"],
      ["content-length", String(100 * 1024 ** 2)],
    ];
    expect((await send("/orders", { method: "POST", headers })).status).toBe(401);
  },
  async "AU-181 HEAD is gated, a preflight is not"() {
    expect((await send("/books/stock", { method: "HEAD" })).status).toBe(401);
    const preflight = await send("/books/stock", {
      method: "OPTIONS",
      headers: [
        ["origin", "http://shop.example"],
        ["access-control-request-method", "GET"],
      ],
    });
    expect(preflight.status).not.toBe(401);
  },
  async "AU-182 tricks in the path"() {
    for (const path of [
      "/books/stock%2f",
      "//books/stock",
      "/books//stock",
      "/BOOKS/stock",
      "/books/./stock",
      "/books/x/../stock",
      "/books/stock/",
    ]) {
      const answer = await send(path);
      expect([path, answer.status === 200, answer.text.includes("cost_cents")]).toEqual([path, false, false]);
    }
  },
  async "AU-184 a user shows no secret"() {
    const { User } = await import("../../src/accounts/user.ts");
    const user = await User.objects.get({ username: "reader1" });
    expect(`${inspect(user, { depth: 9, showHidden: true })}${JSON.stringify(user)}`).not.toContain("argon2");
  },
  async "AU-185 failures are as long as each other"() {
    const answers = [await login("unknown-user", "wrong wrong"), await login("reader28", "wrong wrong")];
    expect(new Set(answers.map(({ text }) => text.length)).size).toBe(1);
  },
  async "AU-186 prototypes by every way in"() {
    const bad =
      '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}},"identifier":"x","password":"y"}';
    await post("/account/login", bad, [["cookie", "__proto__=1; constructor=2"]], newAddress());
    await send("/books?__proto__[isAdmin]=1&constructor[prototype][isAdmin]=1");
    expect(({} as Record<string, unknown>)["isAdmin"]).toBeUndefined();
  },
  async "AU-190 line breaks in what is logged"() {
    await login('x\r\n{"level":50,"msg":"forged by a name"}', "wrong wrong");
    expect(theShop().log.lines.filter(({ msg }) => msg === "forged by a name")).toEqual([]);
  },
  // This row runs last, because it searches for everything that any row has sent.
  async "AU-183 no credential in the log"() {
    const log = theShop().log.text;
    expect(credentials.size).toBeGreaterThan(50);
    expect([...credentials].filter((credential) => log.includes(credential))).toEqual([]);
  },
};
