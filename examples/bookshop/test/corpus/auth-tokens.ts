import { createHmac, hkdfSync } from "node:crypto";
import { type AddressInfo, createServer } from "node:net";
import { expect } from "vitest";
import { type Rows } from "../../../../test/system/corpus/answer.ts";
import {
  ANONYMOUS,
  as,
  bearer,
  newAddress,
  newcomer,
  post,
  send,
  sessionOf,
  theShop,
  tokensOf,
  whoIs,
} from "./the-shop.ts";

type Members = Readonly<Record<string, unknown>>;
const part = (value: unknown): string =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
/** The key that signs access tokens, derived from the secret. */
const key = (): Buffer => Buffer.from(hkdfSync("sha256", secret, "", "portico access token", 32));
let secret = "";
const decoded = (token: string, index: number): Members =>
  JSON.parse(Buffer.from(token.split(".")[index] ?? "", "base64url").toString()) as Members;

let real: { header: Members; payload: Members; token: string } | undefined;
async function aToken(): Promise<{ header: Members; payload: Members; token: string }> {
  // Imported late, because the settings are read from the environment, which the tests change first.
  secret = (await import("../../src/settings.ts")).settings.secret;
  const { access_token: token } = real === undefined ? await tokensOf("reader3") : { access_token: real.token };
  real ??= { token, header: decoded(token, 0), payload: decoded(token, 1) };
  return real;
}
function sign(header: unknown, payload: unknown, algorithm = "sha256"): string {
  const text = `${part(header)}.${part(payload)}`;
  return `${text}.${createHmac(algorithm, key()).update(text).digest("base64url")}`;
}
/** Returns a token as the shop would sign it, with these members changed. */
async function altered(payload: Members, header: Members = {}): Promise<string> {
  const token = await aToken();
  return sign({ ...token.header, ...header }, { ...token.payload, ...payload });
}
async function refuse(...tokens: readonly string[]): Promise<void> {
  for (const token of tokens) expect([token, await whoIs(bearer(token))]).toEqual([token, ANONYMOUS]);
}
const now = (): number => Math.floor(Date.now() / 1000);
const refuseClaims = async (...claims: readonly Members[]): Promise<void> => {
  for (const claim of claims) await refuse(await altered(claim));
};
/** Tokens that an attacker can create without the secret. */
async function forged(header: Members, by: string): Promise<string> {
  const token = await aToken();
  const text = `${part({ ...token.header, ...header })}.${part(token.payload)}`;
  return `${text}.${createHmac("sha256", by).update(text).digest("base64url")}`;
}
const refuseHeaders = async (...headers: readonly Members[]): Promise<void> => {
  for (const header of headers) await refuse(await altered({}, header));
};

/** A. JWT (bearer). The first row shows that a token signed here is valid; otherwise the others would prove nothing. */
export const tokens: Rows = {
  async "AU-022 an audience among others is accepted"() {
    expect(await whoIs(bearer(await altered({})))).toBe("200 reader3");
    expect(await whoIs(bearer(await altered({ aud: ["other", "bookshop"] })))).toBe("200 reader3");
  },
  async "AU-001 alg: none"() {
    const { payload } = await aToken();
    await refuse(`${part({ alg: "none", typ: "at+jwt" })}.${part(payload)}.`);
  },
  async "AU-002 alg: None, in any spelling"() {
    const { payload } = await aToken();
    for (const alg of ["None", "nOnE", "NONE"]) await refuse(`${part({ alg, typ: "at+jwt" })}.${part(payload)}.`);
  },
  async "AU-006 HS512 with the same secret"() {
    const { header, payload } = await aToken();
    await refuse(sign({ ...header, alg: "HS512" }, payload, "sha512"));
  },
  async "AU-007 a key in the header is ignored"() {
    const { header, payload } = await aToken();
    const text = `${part({ ...header, jwk: { kty: "oct", k: part("attacker") } })}.${part(payload)}`;
    await refuse(`${text}.${createHmac("sha256", "attacker").update(text).digest("base64url")}`);
  },
  async "AU-008 the address of a key is not asked"() {
    let asked = 0;
    const server = createServer(() => asked++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;
    await refuse(await forged({ jku: url }, "attacker"), await forged({ x5u: url }, "attacker"));
    server.close();
    expect(asked).toBe(0);
  },
  async "AU-009 kid as a path"() {
    await refuse(await forged({ kid: "../../../../dev/null" }, ""));
  },
  async "AU-010 kid as SQL"() {
    await refuse(await forged({ kid: "' OR 1=1 --" }, "1"));
  },
  async "AU-011 many unknown kids"() {
    for (let i = 0; i < 50; i++) await refuse(await forged({ kid: `unknown-${i}` }, "attacker"));
  },
  async "AU-012 kid of other kinds"() {
    for (const kid of [1, [], "x".repeat(2_900), "__proto__", "constructor"]) await refuse(await forged({ kid }, ""));
  },
  "AU-013 exp in the past": () => refuseClaims({ exp: now() - 6 }),
  "AU-014 no exp": () => refuseClaims({ exp: undefined }),
  "AU-015 exp of other kinds": () =>
    refuseClaims({ exp: String(now() + 60) }, { exp: null }, { exp: -1 }, { exp: true }),
  "AU-016 exp in a hundred years": () => refuseClaims({ exp: 1e300 }, { exp: now() + 3_153_600_000 }),
  "AU-017 nbf in the future": () => refuseClaims({ nbf: now() + 3_600 }),
  "AU-018 iat in the future": () => refuseClaims({ iat: now() + 3_600 }),
  "AU-020 another audience": () => refuseClaims({ aud: "other" }),
  "AU-021 no audience": () => refuseClaims({ aud: undefined }),
  "AU-023 other types of token": () => refuseHeaders({ typ: "JWT" }, { typ: "logout+jwt" }),
  async "AU-024 a refresh token as a bearer"() {
    await refuse((await tokensOf("reader3")).refresh_token);
  },
  async "AU-025 a reset token as a bearer"() {
    await post("/account/password/reset", { email: "reader3@shop.example" }, [], newAddress());
    await expect.poll(() => theShop().mails.at(-1)?.to).toBe("reader3@shop.example");
    await refuse(new URL(theShop().mails.at(-1)?.url ?? "").searchParams.get("token") ?? "");
  },
  "AU-026 invalid subjects": () =>
    refuseClaims(
      { sub: {} },
      { sub: [] },
      { sub: true },
      { sub: 1.5 },
      { sub: "" },
      { sub: null },
      { sub: " " },
      { sub: "a\0" },
      { sub: "x".repeat(3_000) },
    ),
  async "AU-029 a member that stands twice"() {
    const { header, payload } = await aToken();
    const twice = JSON.stringify(payload).replace("{", '{"sub":"admin",');
    expect(await whoIs(bearer(sign(header, twice)))).toBe("200 reader3");
  },
  async "AU-030 __proto__ in the payload"() {
    const { header, payload } = await aToken();
    expect(
      await whoIs(bearer(sign(header, JSON.stringify(payload).replace("{", '{"__proto__":{"isAdmin":true},')))),
    ).toBe("200 reader3");
    expect(({} as Members)["isAdmin"]).toBeUndefined();
  },
  "AU-031 crit": () => refuseHeaders({ crit: ["x"], x: 1 }, { crit: [] }),
  "AU-032 b64: false": () => refuseHeaders({ b64: false }, { b64: false, crit: ["b64"] }),
  async "AU-033 other numbers of segments"() {
    const [a = "", b = "", c = ""] = (await aToken()).token.split(".");
    await refuse(`${a}.${b}`, `${a}.${b}.${c}.${c}`, `${a}.${b}.${c}.${c}.${c}`, "..", "...");
  },
  async "AU-034 a signature in another spelling"() {
    const { token } = await aToken();
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const spare = alphabet[alphabet.indexOf(token.at(-1) ?? "") ^ 1];
    await refuse(token.slice(0, -1), `${token.slice(0, -1)}${spare}`, `${token}=`);
  },
  async "AU-035 invalid payloads"() {
    const { header } = await aToken();
    for (const payload of ["[1]", '"x"', "{bad"]) await refuse(sign(header, payload));
    const text = `${part(header)}.${Buffer.from([0x7b, 0xff, 0x7d]).toString("base64url")}`;
    await refuse(`${text}.${createHmac("sha256", key()).update(text).digest("base64url")}`);
  },
  "AU-036 15 kB": () => refuseClaims({ more: "x".repeat(11_000) }),
  "AU-037 an encrypted token": () =>
    refuse(`${part({ alg: "dir", enc: "A256GCM", zip: "DEF" })}..${part("x")}.${part("x")}.${part("x")}`),
  "AU-039 an unknown user": () => refuseClaims({ sub: "unknown-user" }),
  async "AU-040 a token from before the password was changed"() {
    const { secret: first } = await newcomer("au040");
    const old = await tokensOf("au040", first);
    await post(
      "/account/password",
      { current_password: first, new_password: "quite another secret" },
      [bearer(old.access_token)],
      newAddress(),
    );
    await refuse(old.access_token);
  },
  async "AU-043 an ES256 signature of zeros"() {
    const { header, payload } = await aToken();
    await refuse(`${part({ ...header, alg: "ES256" })}.${part(payload)}.${Buffer.alloc(64).toString("base64url")}`);
  },
  "AU-044 a token of another place": () => refuseClaims({ aud: "bookshop-staging" }),
};
const attributes = async (...headers: (readonly [string, string])[]): Promise<string | undefined> => {
  const answer = await post(
    "/account/login",
    { identifier: "reader4", password: "correct horse battery" },
    headers,
    newAddress(),
  );
  return answer.cookies[0]
    ?.split(";")
    .slice(1)
    .filter((text) => !text.includes("xpires"))
    .join(";");
};

/** B. Headers and transport */
export const transport: Rows = {
  async "AU-045 two Authorization headers"() {
    expect(await whoIs(await as("reader1"), await as("reader2"))).toBe(ANONYMOUS);
  },
  async "AU-046 two tokens in one header"() {
    const [[, one], [, two]] = [await as("reader1"), await as("reader2")];
    expect(await whoIs(["authorization", `${one}, ${two}`])).toBe(ANONYMOUS);
  },
  async "AU-047 two keys"() {
    expect(await whoIs(["x-api-key", "pk_a_b"], ["x-api-key", "pk_c_d"])).toBe(ANONYMOUS);
  },
  async "AU-048 the scheme in any case"() {
    const [, value] = await as("reader1");
    for (const scheme of ["bearer", "BEARER", "BeArEr"])
      expect(await whoIs(["authorization", value.replace("Bearer", scheme)])).toBe("200 reader1");
  },
  async "AU-049 spaces and tabs"() {
    const [, value] = await as("reader1");
    expect(await whoIs(["authorization", value.replace(" ", "   ")])).toBe("200 reader1");
    expect(await whoIs(["authorization", value.replace(" ", "\t")])).toBe(ANONYMOUS);
  },
  async "AU-050 a scheme and no token"() {
    const answer = await send("/account/me", { headers: [["authorization", "Bearer"]] });
    expect([answer.status, answer.headers["www-authenticate"]]).toEqual([401, expect.not.stringContaining("error")]);
  },
  async "AU-051 another scheme"() {
    expect(await whoIs(["authorization", "Basic dXNlcjpwYXNz"])).toBe(ANONYMOUS);
    expect(theShop().log.text).not.toContain("dXNlcjpwYXNz");
  },
  async "AU-052 invalid headers"() {
    const [, value] = await as("reader1");
    for (const header of [
      ["authorization", `${value}\0`],
      ["authorization ", value],
      ["authorization", `${value}\n x`],
    ] as const)
      expect((await send("/account/me", { headers: [header] })).status).toBe(400);
  },
  async "AU-053 bytes that are not ASCII"() {
    const [, value] = await as("reader1");
    expect(await whoIs(["authorization", `${value}é`])).toBe(ANONYMOUS);
  },
  async "AU-054 a token in the query"() {
    const [, value] = await as("reader1");
    const token = value.slice(7);
    expect((await send(`/account/me?access_token=${token}`)).verdict).toBe(ANONYMOUS);
    expect(theShop().log.text).not.toContain(token);
  },
  async "AU-055 names that anybody can send"() {
    for (const name of ["x-user-id", "x-forwarded-user", "x-remote-user"])
      expect(await whoIs([name, "admin"])).toBe(ANONYMOUS);
    expect((await send("/account/me?user_id=admin")).verdict).toBe(ANONYMOUS);
  },
  async "AU-057 a wrong token and a right session"() {
    expect(await whoIs(["authorization", "Bearer wrong"], ["cookie", await sessionOf("reader4")])).toBe("200 reader4");
  },
  async "AU-058 a token of one and a session of another"() {
    expect(await whoIs(await as("reader1"), ["cookie", await sessionOf("reader4")])).toBe("200 reader1");
  },
  async "AU-061 the links of mails name the shop"() {
    const before = theShop().mails.length;
    const headers = [["x-forwarded-host", "evil.example"]] as const;
    await post("/account/password/reset", { email: "reader7@shop.example" }, headers, newAddress());
    await expect.poll(() => theShop().mails.length).toBe(before + 1);
    expect(theShop().mails.at(-1)?.url).toMatch(/^http:\/\/shop\.example\//);
  },
  async "AU-062 X-Forwarded-Proto of anybody"() {
    expect(await attributes(["x-forwarded-proto", "https"])).toBe(await attributes());
  },
};
