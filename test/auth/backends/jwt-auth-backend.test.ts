import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { ConfigurationError } from "portico";
import { type JWTAlgorithm, JWTAuthBackend, type JWTAuthOptions, SimpleUser } from "portico/auth";
import { type LiveClient, liveClient, testClient } from "portico/testing";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  ANN,
  ANONYMOUS,
  backendFor,
  bearing,
  claims,
  clock,
  encode,
  forge,
  NOW,
  OTHER_SECRET,
  refusalFrom,
  refusalOf,
  SECRET,
  standing,
  type TokenApp,
  tokenApp,
} from "../tokens/token-app.ts";
import { HeaderBackend } from "./recording-backend.ts";

const HEADER = { alg: "HS256", typ: "JWT" };

/** Runs the body against an app on a real socket. */
async function over<T>(made: TokenApp, body: (client: LiveClient) => Promise<T>): Promise<T> {
  const client = await liveClient(made.app);
  try {
    return await body(client);
  } finally {
    await client.close();
  }
}

const standingAt = (options: JWTAuthOptions, token: string): Promise<readonly unknown[]> =>
  over(tokenApp(backendFor(options)), (client) => standing(client, `Bearer ${token}`));

describe("JWTAuthBackend", () => {
  let made: TokenApp;
  let client: LiveClient;
  beforeAll(async () => {
    made = tokenApp(backendFor());
    client = await liveClient(made.app);
  });
  afterAll(() => client.close());

  it("[BCK-01] [BCK-02] reads the bearer token in Authorization, and nowhere else", async () => {
    const token = forge(claims);

    const elsewhere = await Promise.all([
      client.get("/open", { headers: { "x-authorization": `Bearer ${token}` } }),
      client.get("/open", { headers: { cookie: `access_token=${token}` } }),
      client.get(`/open?access_token=${token}`),
    ]);

    expect((await client.get("/open", bearing(token))).json()).toEqual({ who: "ann", auth: "jwt", anonymous: false });
    expect(elsewhere.map((answer) => answer.json())).toEqual(
      elsewhere.map(() => ({ who: "", auth: null, anonymous: true })),
    );
  });

  it("[ATH-15] [BCK-03] hands the claim that identifier names to loadUser, whose user the request has", async () => {
    const steps: string[] = [];
    const loadUser = async (identity: string): Promise<SimpleUser> => {
      steps.push(`loadUser(${JSON.stringify(identity)})`);
      return new SimpleUser(`user ${identity}`);
    };
    const backend = backendFor({ identifier: "uid" });
    const authenticate = vi.spyOn(backend, "authenticate").mockImplementation(async (request) => {
      steps.push("authenticate");
      return JWTAuthBackend.prototype.authenticate.call(backend, request);
    });

    const answer = await over(tokenApp(backend, { loadUser }), (client) =>
      client.get("/gated", bearing(forge({ ...claims, uid: "9" }))),
    );

    expect(authenticate).toHaveBeenCalledOnce();
    expect([...steps, answer.json()]).toEqual(["authenticate", 'loadUser("9")', "user 9"]);
  });

  it("[BCK-10] uses the claim id if no identifier is set", async () => {
    const backend = new JWTAuthBackend({ secretKey: SECRET, clock });

    const seen = await over(tokenApp(backend), (client) => standing(client, `Bearer ${forge({ ...claims, id: "9" })}`));

    expect(seen).toEqual([200, "jwt:9"]);
  });

  it("[BCK-16] wins with a valid token over the backends after it", async () => {
    const backends = [backendFor(), new HeaderBackend("session"), new HeaderBackend("apikey")];

    const answer = await over(tokenApp(backends), (client) =>
      client.get("/open", { headers: { authorization: `Bearer ${forge(claims)}`, "x-session": "bob" } }),
    );

    expect(answer.json()).toMatchObject({ who: "ann", auth: "jwt" });
  });

  it.each(["bearer", "BEARER", "BeArEr"])("[auth:AU-048] takes the scheme %s", async (scheme) => {
    expect(await standing(client, `${scheme} ${forge(claims)}`)).toEqual(ANN);
  });

  it("[auth:AU-049] accepts several spaces after the scheme, but no tab", async () => {
    expect(await standing(client, `Bearer   ${forge(claims)}`)).toEqual(ANN);
    expect(await standing(client, `Bearer\t${forge(claims)}`)).toEqual(ANONYMOUS);
  });

  it.each(["Bearer", "Bearer "])("[auth:AU-050] answers %j as no credential", async (authorization) => {
    const answer = await client.get("/gated", { headers: { authorization } });

    expect(refusalOf(answer)).toEqual([401, "Bearer", "no-store"]);
  });

  it("[auth:AU-045] [auth:AU-046] accepts one value of Authorization with one token", async () => {
    const [ann, bob] = [forge(claims), forge({ ...claims, sub: "bob" })];
    const repeated = (...values: string[]): Promise<string> =>
      rawStatus(client.port, values.map((value) => `Authorization: Bearer ${value}\r\n`).join(""));

    expect(await repeated(ann, bob)).toBe("401");
    expect(await repeated(bob, ann)).toBe("401");
    expect(await repeated(ann)).toBe("200");
    expect(await standing(client, `Bearer ${ann}, Bearer ${bob}`)).toEqual(ANONYMOUS);
    expect(await standing(client, `Bearer ${ann} ${bob}`)).toEqual(ANONYMOUS);
  });

  it("[auth:AU-051] declines Basic, whose value is not logged", async () => {
    expect(await standing(client, "Basic dXNlcjpwYXNz")).toEqual(ANONYMOUS);
    expect(made.log.text).not.toContain("dXNlcjpwYXNz");
  });

  it("[auth:AU-052] never sees an invalid header", async () => {
    const token = forge(claims);

    for (const line of [
      `Authorization: Bearer ${token}\0\r\n`,
      `Authorization: Bearer\r\n ${token}\r\n`,
      `Authorization: Bearer ${token}\nX: y\r\n`,
      `Authorization : Bearer ${token}\r\n`,
    ])
      expect(await rawStatus(client.port, line)).toBe("400");
  });

  it("[auth:AU-053] declines bytes beyond ASCII", async () => {
    expect(await rawStatus(client.port, `Authorization: Bearer ${forge(claims)}é\r\n`)).toBe("401");
  });

  it("[auth:AU-055] ignores identities in other headers, the query and the body", async () => {
    const headers = { "x-user-id": "ann", "x-forwarded-user": "ann", "x-remote-user": "ann" };

    const answer = await client.post("/open?user_id=ann", {
      headers,
      body: { user_id: "ann", user: { identity: "ann" } },
    });

    expect(answer.json()).toEqual({ who: "", auth: null, anonymous: true });
  });

  it("[REQ-20] [auth:AU-013] rejects an expired token, beyond the tolerance", async () => {
    expect(await standing(client, `Bearer ${forge({ ...claims, exp: NOW - 4 })}`)).toEqual(ANN);
    expect(await standing(client, `Bearer ${forge({ ...claims, exp: NOW - 6 })}`)).toEqual(ANONYMOUS);
  });

  it("[REQ-21] rejects a token that another key signed, or whose payload was altered", async () => {
    const [head, , signature] = forge(claims).split(".");
    const altered = `${head}.${encode({ ...claims, sub: "root" })}.${signature}`;

    expect(await standing(client, `Bearer ${forge(claims, HEADER, OTHER_SECRET)}`)).toEqual(ANONYMOUS);
    expect(await standing(client, `Bearer ${altered}`)).toEqual(ANONYMOUS);
  });

  const withPayload = (payload: unknown): string => forge(payload as object);
  const valid = forge(claims);
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const malleated = valid.slice(0, -1) + alphabet[alphabet.indexOf(valid.at(-1) as string) + 1];

  it.each<readonly [string, readonly string[]]>([
    ["[auth:AU-001] no algorithm", [`${encode({ alg: "none" })}.${encode(claims)}.`, forge(claims, { alg: "none" })]],
    ["[auth:AU-002] no algorithm, in other letters", ["None", "nOnE", "NONE"].map((alg) => forge(claims, { alg }))],
    [
      "[auth:AU-006] an algorithm that is not listed",
      [forge(claims, { alg: "HS512" }), forge(claims, { alg: "HS384" })],
    ],
    ["a header without an algorithm", [forge(claims, {}), forge(claims, { alg: ["HS256"] })]],
    ["[auth:AU-014] no expiry", [withPayload({ sub: "ann" })]],
    [
      "[auth:AU-015] an expiry that is not a time",
      ["1900000000", Number.NaN, -1, true, null, {}, 1.5].map((exp) => withPayload({ ...claims, exp })),
    ],
    [
      "[auth:AU-016] an expiry beyond all lifetimes",
      [forge('{"sub":"ann","exp":1e300}'), withPayload({ ...claims, exp: NOW + 3_153_600_000 })],
    ],
    ["[auth:AU-017] not valid yet", [NOW + 6, "x", -1].map((nbf) => withPayload({ ...claims, nbf }))],
    ["[auth:AU-018] made in the future", [NOW + 3600, "x", null].map((iat) => withPayload({ ...claims, iat }))],
    ["an opaque token", [encode("reset token of some kind, 32 bytes")]],
    [
      "[auth:AU-031] extensions that must be understood",
      [
        forge(claims, { ...HEADER, crit: ["x"], x: 1 }),
        forge(claims, { ...HEADER, crit: [] }),
        forge(claims, { ...HEADER, crit: ["exp"], exp: 1 }),
      ],
    ],
    [
      "[auth:AU-032] an unencoded payload",
      [forge(claims, { ...HEADER, b64: false }), forge(claims, { ...HEADER, b64: false, crit: ["b64"] })],
    ],
    [
      "[REQ-23] [auth:AU-033] another number of segments",
      [
        "a.b",
        "a.b.c.d",
        "a.b.c.d.e",
        ".",
        "..",
        "....",
        `${valid}.`,
        `.${valid}`,
        valid.split(".").slice(0, 2).join("."),
      ],
    ],
    [
      "[auth:AU-034] another spelling of the signature",
      [valid.slice(0, -2), malleated, `${valid}=`, valid.slice(0, -5)],
    ],
    [
      "[REQ-23] [auth:AU-035] a payload that is not a JSON object",
      [
        forge("[1]"),
        forge('"x"'),
        forge("null"),
        forge("{sub:ann}"),
        forge(""),
        forge(Buffer.concat([Buffer.from('{"exp":1900000000,"sub":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')])),
        forge(claims, "no json"),
        forge(claims, "[]"),
      ],
    ],
    [
      "[auth:AU-037] an encrypted or a compressed token",
      [
        `${encode({ alg: "dir", enc: "A128GCM", zip: "DEF" })}..AAAA.AAAA.AAAA`,
        forge(claims, { ...HEADER, zip: "DEF" }),
        forge(claims, { ...HEADER, enc: "A128GCM" }),
      ],
    ],
    [
      "[auth:AU-026] an empty or malformed subject",
      [{}, [], ["ann"], true, 1.5, "", null, "  \t ", "a".repeat(3000), "ann\0", "ann\n", "\ud800"].map((sub) =>
        withPayload({ ...claims, sub }),
      ),
    ],
    [
      "a token of another kind",
      [forge(claims, { alg: "HS256", typ: "logout+jwt" }), forge(claims, { alg: "HS256", typ: 1 })],
    ],
  ])("%s is declined", async (_title, tokens) => {
    made.log.clear();

    for (const token of tokens) expect([token, await standing(client, `Bearer ${token}`)]).toEqual([token, ANONYMOUS]);

    expect(await standing(client, `Bearer ${valid}`)).toEqual(ANN);
    for (const token of [...tokens, valid].filter(({ length }) => length > 8))
      expect(made.log.text).not.toContain(token);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it("[auth:AU-034] rejects a newline after the token before it becomes a header", async () => {
    expect(await rawStatus(client.port, `Authorization: Bearer ${valid}\n\r\n`)).toBe("400");
  });

  it("[auth:AU-026] accepts an integer and converts it to text", async () => {
    expect(await standing(client, `Bearer ${forge({ ...claims, sub: 7 })}`)).toEqual([200, "jwt:7"]);
  });

  it("[auth:AU-036] rejects a token longer than maxTokenBytes without reading it", async () => {
    const long = forge({ ...claims, pad: "a".repeat(9000) });
    const fitting = forge({ ...claims, pad: "a".repeat(2000) });

    expect(await standing(client, `Bearer ${long}`)).toEqual(ANONYMOUS);
    expect(await standing(client, `Bearer ${fitting}`)).toEqual(ANN);
    expect(await standingAt({ maxTokenBytes: 1000 }, fitting)).toEqual(ANONYMOUS);
  });

  it("[auth:AU-007] [auth:AU-008] ignores keys and key URLs in the header, and fetches nothing", async () => {
    const called = vi.fn<() => void>();
    const trap = createServer(called).listen(0, "127.0.0.1");
    await once(trap, "listening");
    const url = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/keys`;
    const extras = { jwk: { kty: "oct", k: encode(OTHER_SECRET) }, jku: url, x5u: url };

    const strange = await standing(client, `Bearer ${forge(claims, { ...HEADER, ...extras }, OTHER_SECRET)}`);
    const ours = await standing(client, `Bearer ${forge(claims, { ...HEADER, jwk: extras.jwk })}`);
    trap.close();

    expect([strange, ours, called.mock.calls.length]).toEqual([ANONYMOUS, ANN, 0]);
  });

  it("[auth:AU-029] uses the last of two members with the same name", async () => {
    const token = forge(`{"sub":"root","exp":${NOW + 60},"sub":"ann"}`);

    expect(await standing(client, `Bearer ${token}`)).toEqual(ANN);
  });

  it("[auth:AU-030] reads a member __proto__ as a member, and as nothing else", async () => {
    const smuggled = forge(`{"exp":${NOW + 60},"__proto__":{"sub":"root","isAdmin":true}}`);

    expect(await standing(client, `Bearer ${smuggled}`)).toEqual(ANONYMOUS);
    expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
  });

  it("[auth:AU-019] checks iss against the issuer", async () => {
    const at = (iss: unknown): Promise<readonly unknown[]> => standingAt({ issuer: "us" }, forge({ ...claims, iss }));

    expect(await at("us")).toEqual(ANN);
    for (const iss of ["them", undefined, ["us"], null, ""]) expect(await at(iss)).toEqual(ANONYMOUS);
  });

  it("[REQ-22] [auth:AU-020] [auth:AU-021] [auth:AU-022] checks aud against the audience", async () => {
    const at = (aud: unknown, audience: string | string[] = "shop"): Promise<readonly unknown[]> =>
      standingAt({ audience }, forge({ ...claims, aud }));

    expect(await at("shop")).toEqual(ANN);
    expect(await at(["other", "shop"])).toEqual(ANN);
    expect(await at("bar", ["foo", "bar"])).toEqual(ANN);
    for (const aud of ["other", undefined, [], ["other"], ["shop", 1], {}, ""])
      expect(await at(aud)).toEqual(ANONYMOUS);
  });

  it("[REQ-22] declines a token with an aud if no audience is set", async () => {
    expect(await standing(client, `Bearer ${forge(claims)}`)).toEqual(ANN);
    for (const aud of ["shop", ["shop"], "", [], null])
      expect(await standing(client, `Bearer ${forge({ ...claims, aud })}`)).toEqual(ANONYMOUS);
  });

  it("[auth:AU-023] checks the typ header", async () => {
    const typed = (typ?: string): string => forge(claims, typ === undefined ? { alg: "HS256" } : { alg: "HS256", typ });

    expect(await standingAt({ typ: "at+jwt" }, typed("at+jwt"))).toEqual(ANN);
    expect(await standingAt({ typ: "at+jwt" }, typed("application/at+jwt"))).toEqual(ANN);
    expect(await standingAt({ typ: "at+jwt" }, typed("JWT"))).toEqual(ANONYMOUS);
    expect(await standingAt({ typ: "at+jwt" }, typed())).toEqual(ANONYMOUS);
    for (const typ of ["JWT", "at+jwt", undefined]) expect(await standing(client, `Bearer ${typed(typ)}`)).toEqual(ANN);
    expect(await standing(client, `Bearer ${typed("logout+jwt")}`)).toEqual(ANONYMOUS);
  });

  it("[auth:AU-039] declines a token whose user is gone", async () => {
    const gone = { loadUser: async () => null };

    const seen = await over(tokenApp(backendFor(), gone), (client) => standing(client, `Bearer ${valid}`));

    expect(seen).toEqual(ANONYMOUS);
  });

  it("[auth:AU-042] accepts tokens of every listed secret", async () => {
    const secretKey = [OTHER_SECRET, SECRET];

    expect(await standingAt({ secretKey }, valid)).toEqual(ANN);
    expect(await standingAt({ secretKey }, forge(claims, HEADER, OTHER_SECRET))).toEqual(ANN);
    expect(await standingAt({ secretKey: [OTHER_SECRET] }, valid)).toEqual(ANONYMOUS);
  });

  it("calls isRevoked for each token, and accepts only false", async () => {
    const answers: unknown[] = [false, true, undefined];
    const isRevoked = vi.fn<() => boolean>(() => answers.shift() as boolean);
    const app = tokenApp(backendFor({ isRevoked, cache: 10 }));

    const statuses = await over(app, async (client) => [
      (await client.get("/gated", bearing(valid))).status,
      (await client.get("/gated", bearing(valid))).status,
      (await client.get("/gated", bearing(valid))).status,
    ]);

    expect(statuses).toEqual([200, 401, 401]);
    expect(isRevoked).toHaveBeenCalledWith(claims);
  });

  it("leaves the caller unknown, not anonymous, if isRevoked throws", async () => {
    const isRevoked = (): never => {
      throw new Error("the store is down");
    };

    const answer = await over(tokenApp(backendFor({ isRevoked })), (client) => client.get("/gated", bearing(valid)));

    expect([answer.status, answer.headers["retry-after"]]).toEqual([503, "5"]);
  });
});

describe("the warning about identifier", () => {
  afterEach(() => vi.unstubAllEnvs());
  const warnings = async (): Promise<readonly string[]> => {
    const made = tokenApp(new JWTAuthBackend({ secretKey: SECRET, issuer: "us", clock }));
    const token = forge({ ...claims, iss: "us" });
    const seen = await over(made, async (client) => [
      await standing(client, `Bearer ${token}`),
      await standing(client, `Bearer ${token}`),
    ]);
    expect(seen).toEqual([ANONYMOUS, ANONYMOUS]);
    expect(made.log.text).not.toContain(token);
    return made.log.lines.filter(({ level }) => level === "warn").map(({ msg }) => msg);
  };

  it("[BCK-18] [auth:AU-027] comes once when a token names its user in sub", async () => {
    expect(await warnings()).toEqual([expect.stringContaining('set identifier: "sub" on JWTAuthBackend')]);
  });

  it("[BCK-18] does not come in production", async () => {
    vi.stubEnv("NODE_ENV", "production");

    expect(await warnings()).toEqual([]);
  });
});

describe("a key set", () => {
  const pairs = {
    EdDSA: generateKeyPairSync("ed25519"),
    ES256: generateKeyPairSync("ec", { namedCurve: "P-256" }),
    RS256: generateKeyPairSync("rsa", { modulusLength: 2048 }),
  };
  type Name = keyof typeof pairs;
  const publicJwk = (name: Name, kid?: string): object => ({
    ...pairs[name].publicKey.export({ format: "jwk" }),
    ...(kid === undefined ? {} : { kid }),
  });
  const signedBy = (alg: Name, header: object = {}, key: KeyObject = pairs[alg].privateKey): string => {
    const signed = `${encode({ alg, ...header })}.${encode(claims)}`;
    const digest = alg === "EdDSA" ? null : "sha256";
    return `${signed}.${sign(digest, Buffer.from(signed), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
  };
  const jwks = { keys: [publicJwk("EdDSA", "a"), publicJwk("ES256", "b"), publicJwk("RS256", "c")] };

  it.each<readonly [Name, string]>([
    ["EdDSA", "a"],
    ["ES256", "b"],
    ["RS256", "c"],
  ])("[BCK-20] verifies %s", async (alg, kid) => {
    expect(await standingAt({ jwks }, signedBy(alg, { kid }))).toEqual(ANN);
    expect(await standingAt({ jwks }, signedBy(alg))).toEqual(ANN);
    expect(await standingAt({ jwks, algorithms: [alg] }, signedBy(alg, { kid }))).toEqual(ANN);
    const others = (["EdDSA", "ES256", "RS256"] as const).filter((name) => name !== alg) as JWTAlgorithm[];
    expect(await standingAt({ jwks, algorithms: others }, signedBy(alg, { kid }))).toEqual(ANONYMOUS);
  });

  it("[auth:AU-042] selects by kid: a listed key is valid, a removed one is not, and no key is guessed without kid", async () => {
    const second = generateKeyPairSync("ed25519");
    const both = { keys: [{ ...second.publicKey.export({ format: "jwk" }), kid: "new" }, publicJwk("EdDSA", "old")] };
    const [newest] = both.keys;

    expect(await standingAt({ jwks: both }, signedBy("EdDSA", { kid: "old" }))).toEqual(ANN);
    expect(await standingAt({ jwks: both }, signedBy("EdDSA", { kid: "new" }, second.privateKey))).toEqual(ANN);
    expect(await standingAt({ jwks: both }, signedBy("EdDSA", { kid: "new" }))).toEqual(ANONYMOUS);
    expect(await standingAt({ jwks: both }, signedBy("EdDSA"))).toEqual(ANONYMOUS);
    expect(await standingAt({ jwks: { keys: [newest as object] } }, signedBy("EdDSA", { kid: "old" }))).toEqual(
      ANONYMOUS,
    );
  });

  it("[BCK-22] [auth:AU-003] [auth:AU-004] does not accept a public key as a secret", async () => {
    const pem = pairs.RS256.publicKey.export({ format: "pem", type: "spki" }).toString();
    const made = tokenApp(backendFor({ jwks }));

    await over(made, async (client) => {
      for (const secret of [pem, `\n ${pem}`, `\ufeff${pem}`]) {
        const token = forge(claims, { alg: "HS256", kid: "c" }, secret);
        expect(await standing(client, `Bearer ${token}`)).toEqual(ANONYMOUS);
      }
      expect(await standing(client, `Bearer ${forge(claims, { alg: "none", kid: "c" })}`)).toEqual(ANONYMOUS);
    });

    expect(made.log.lines.filter(({ level }) => level === "error")).toEqual([]);
  });

  it.each<readonly [string, unknown]>([
    ["[auth:AU-009] a path", "../../../../dev/null"],
    ["[auth:AU-010] a statement", "' OR 1=1 --"],
    ["[auth:AU-012] a number", 1],
    ["[auth:AU-012] a list", ["a"]],
    ["[auth:AU-012] a name of 3 kB", "a".repeat(2500)],
    ["[auth:AU-012] __proto__", "__proto__"],
    ["[auth:AU-012] constructor", "constructor"],
    ["null", null],
  ])("%s as kid is declined", async (_title, kid) => {
    expect(await standingAt({ jwks }, signedBy("EdDSA", { kid }))).toEqual(ANONYMOUS);
  });

  it("[auth:AU-043] declines an ES256 signature of zeros", async () => {
    const zeros = `${signedBy("ES256", { kid: "b" }).split(".").slice(0, 2).join(".")}.${encode(Buffer.alloc(64))}`;

    expect(await standingAt({ jwks }, zeros)).toEqual(ANONYMOUS);
  });

  describe("at a URL", () => {
    let served: object = jwks;
    let status = 200;
    /** When the body follows the headers. */
    let arrives = Promise.resolve();
    const asked = vi.fn<() => void>();
    let url: URL;
    let server: Server;
    beforeAll(async () => {
      server = createServer((_request, response) => {
        asked();
        const moved = status === 302 ? { location: "/moved" } : {};
        response.writeHead(status, { "content-type": "application/json", ...moved }).flushHeaders();
        void arrives.then(() => response.end(JSON.stringify(served)));
      });
      await once(server.listen(0, "127.0.0.1"), "listening");
      url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`);
    });
    afterAll(() => void server.close());
    afterEach(() => {
      asked.mockReset();
      [served, status, arrives] = [jwks, 200, Promise.resolve()];
    });

    it("[auth:AU-011] is fetched once, however many tokens name keys that are not in it", async () => {
      const backend = backendFor({ jwks: url });
      const client = testClient(tokenApp(backend).app);

      const known = await client.get("/gated", bearing(signedBy("ES256", { kid: "b" })));
      const unknown = new Set<number>();
      for (let count = 0; count < 1000; count++) {
        const token = signedBy("EdDSA", { kid: `unknown ${count}` });
        unknown.add((await client.get("/gated", bearing(token))).status);
      }

      expect([known.status, [...unknown], asked.mock.calls.length]).toEqual([200, [401], 1]);
    });

    it("leaves the caller unknown while it cannot be fetched, and is not fetched again at once", async () => {
      status = 500;
      let elapsed = 0;
      const moving = { now: clock.now, monotonic: () => elapsed };
      const made = tokenApp(backendFor({ jwks: url, clock: moving }));
      const token = signedBy("ES256", { kid: "b" });

      await over(made, async (client) => {
        const down = [await client.get("/gated", bearing(token)), await client.get("/gated", bearing(token))];
        expect([down.map((answer) => answer.status), asked.mock.calls.length]).toEqual([[503, 503], 1]);
        [status, elapsed] = [200, 6000];
        expect((await client.get("/gated", bearing(token))).status).toBe(200);
      });
      expect(made.log.text).not.toContain(token);
    });

    it("is not fetched from the address that it redirects to", async () => {
      asked.mockImplementationOnce(() => {
        status = 302;
      });
      asked.mockImplementationOnce(() => {
        status = 200;
      });
      const client = testClient(tokenApp(backendFor({ jwks: url })).app);

      const answer = await client.get("/gated", bearing(signedBy("ES256", { kid: "b" })));

      expect([answer.status, asked.mock.calls.length]).toEqual([503, 1]);
    });

    it("does not cache a token of a key that was withdrawn while the set was being fetched", async () => {
      const client = testClient(tokenApp(backendFor({ jwks: url, cache: 10 })).app);
      const old = bearing(signedBy("ES256", { kid: "b" }));
      const statusOf = async (request: typeof old): Promise<number> => (await client.get("/gated", request)).status;
      expect([await statusOf(old), await statusOf(old)]).toEqual([200, 200]);
      const { promise, resolve } = Promise.withResolvers<void>();
      [served, arrives] = [{ keys: [publicJwk("EdDSA", "a")] }, promise];
      // Beyond the cooldown, in which no set is fetched for the sake of an unknown key.
      const systemTime = vi.spyOn(Date, "now").mockReturnValue(Date.now() + 31_000);

      const unknown = statusOf(bearing(signedBy("EdDSA", { kid: "unknown" })));
      await vi.waitFor(() => expect(asked).toHaveBeenCalledTimes(2), 60_000);
      await new Promise((done) => setTimeout(done, 50));
      const meanwhile = await statusOf(old);
      resolve();

      expect([meanwhile, await unknown, await statusOf(old)]).toEqual([200, 401, 401]);
      systemTime.mockRestore();
    });
  });
});

describe("the cache of verified tokens", () => {
  it("verifies a token once, and still sees it expire", async () => {
    let now = NOW * 1000;
    const moving = { now: () => now, monotonic: () => 0 };
    const verify = vi.spyOn(globalThis.crypto.subtle, "verify");
    const made = tokenApp(backendFor({ cache: 2, clock: moving }));
    const client = testClient(made.app);
    const token = forge(claims);

    const statuses = [await client.get("/gated", bearing(token)), await client.get("/gated", bearing(token))];
    const times = verify.mock.calls.length;
    now += 606_000;
    const later = await client.get("/gated", bearing(token));
    verify.mockRestore();

    expect([statuses.map(({ status }) => status), times, later.status]).toEqual([[200, 200], 1, 401]);
  });

  it("holds no more than its size, and no rejected tokens", async () => {
    const verify = vi.spyOn(globalThis.crypto.subtle, "verify");
    const client = testClient(tokenApp(backendFor({ cache: 1 })).app);
    const [ann, bob] = [forge(claims), forge({ ...claims, sub: "bob" })];

    const seen: unknown[] = [];
    for (const token of [ann, bob, ann, forge(claims, HEADER, OTHER_SECRET), ann])
      seen.push((await client.get("/gated", bearing(token))).status);
    const times = verify.mock.calls.length;
    verify.mockRestore();

    expect([seen, times]).toEqual([[200, 200, 200, 401, 200], 4]);
  });
});

describe("the options of JWTAuthBackend", () => {
  const refusal = (options: object): ConfigurationError => refusalFrom(() => new JWTAuthBackend(options));
  const pem = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "pem", type: "spki" });
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" });
  const secretJwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  const goodJwk = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });

  it("[BCK-19] take a secret of 32 bytes, not of 31", () => {
    expect(() => new JWTAuthBackend({ secretKey: SECRET.slice(0, 32) })).not.toThrow();
    expect(refusal({ secretKey: SECRET.slice(0, 31) }).message).toContain("at least 32 bytes");
  });

  it.each<readonly [string, object, string]>([
    ["nothing to verify with", {}, "JWTAuthBackend.secretKey"],
    ["[auth:AU-038] a short secret", { secretKey: "sixteen bytes ok" }, "JWTAuthBackend.secretKey"],
    ["[auth:AU-038] an empty secret", { secretKey: "" }, "JWTAuthBackend.secretKey"],
    ["[auth:AU-038] the secret of every tutorial", { secretKey: "secret" }, "JWTAuthBackend.secretKey"],
    ["[auth:AU-038] a known one", { secretKey: "a-string-secret-at-least-256-bits-long" }, "JWTAuthBackend.secretKey"],
    ["[auth:AU-038] a placeholder", { secretKey: "x".repeat(40) }, "JWTAuthBackend.secretKey"],
    ["an empty ring", { secretKey: [] }, "JWTAuthBackend.secretKey"],
    ["a ring with a short one", { secretKey: [SECRET, "short"] }, "JWTAuthBackend.secretKey"],
    ["[auth:AU-004] a PEM as secret", { secretKey: `\ufeff \n${pem.toString()}` }, "JWTAuthBackend.secretKey"],
    ["[BCK-21] a secret and a key set", { secretKey: SECRET, jwks: { keys: [goodJwk] } }, "JWTAuthBackend"],
    [
      "[auth:AU-005] a secret for RS256",
      { secretKey: SECRET, algorithms: ["HS256", "RS256"] },
      "JWTAuthBackend.algorithms",
    ],
    [
      "[auth:AU-005] a key set for HS256",
      { jwks: { keys: [goodJwk] }, algorithms: ["HS256", "EdDSA"] },
      "JWTAuthBackend.algorithms",
    ],
    [
      "[auth:AU-005] a secret in the set",
      { jwks: { keys: [{ kty: "oct", k: encode(SECRET) }] } },
      "JWTAuthBackend.jwks.keys[0]",
    ],
    ["no algorithm", { secretKey: SECRET, algorithms: [] }, "JWTAuthBackend.algorithms"],
    ["the algorithm none", { secretKey: SECRET, algorithms: ["none"] }, "JWTAuthBackend.algorithms"],
    ["a private key", { jwks: { keys: [secretJwk] } }, "JWTAuthBackend.jwks.keys[0]"],
    ["a small RSA key", { jwks: { keys: [small] } }, "JWTAuthBackend.jwks.keys[0]"],
    ["an empty set", { jwks: { keys: [] } }, "JWTAuthBackend.jwks"],
    ["an invalid key set", { jwks: "https://example.com" }, "JWTAuthBackend.jwks"],
    ["an address in the clear", { jwks: new URL("http://example.com/keys") }, "JWTAuthBackend.jwks"],
    [
      "[auth:AU-028] __proto__ as identifier",
      { secretKey: SECRET, identifier: "__proto__" },
      "JWTAuthBackend.identifier",
    ],
    ["[auth:AU-028] constructor", { secretKey: SECRET, identifier: "constructor" }, "JWTAuthBackend.identifier"],
    ["an empty identifier", { secretKey: SECRET, identifier: "" }, "JWTAuthBackend.identifier"],
    ["an audience that is a number", { secretKey: SECRET, audience: 1 }, "JWTAuthBackend.audience"],
    ["an empty audience", { secretKey: SECRET, audience: "" }, "JWTAuthBackend.audience"],
    ["an audience with an empty one", { secretKey: SECRET, audience: ["a", ""] }, "JWTAuthBackend.audience"],
    ["an audience with a number", { secretKey: SECRET, audience: ["a", 1] }, "JWTAuthBackend.audience"],
    ["no audience", { secretKey: SECRET, audience: [] }, "JWTAuthBackend.audience"],
    ["a realm that is a number", { secretKey: SECRET, realm: 1 }, "JWTAuthBackend.realm"],
    ["a type of another kind", { secretKey: SECRET, typ: "jwt" }, "JWTAuthBackend.typ"],
    ["a clock that is none", { secretKey: SECRET, clock: {} }, "JWTAuthBackend.clock"],
    ["an identifier that is a number", { secretKey: SECRET, identifier: 1 }, "JWTAuthBackend.identifier"],
    ["an audience that vanished", { secretKey: SECRET, audience: undefined }, "JWTAuthBackend.audience"],
    ["an issuer that vanished", { secretKey: SECRET, issuer: undefined }, "JWTAuthBackend.issuer"],
    ["a revocation list that vanished", { secretKey: SECRET, isRevoked: undefined }, "JWTAuthBackend.isRevoked"],
    ["a type that vanished", { secretKey: SECRET, typ: undefined }, "JWTAuthBackend.typ"],
    ["algorithms that vanished", { secretKey: SECRET, algorithms: undefined }, "JWTAuthBackend.algorithms"],
    ["a misspelt option", { secretKey: SECRET, audiences: "shop" }, "JWTAuthBackend.audiences"],
  ])("%s is rejected, and no secret is shown", (_title, options, option) => {
    const error = refusal(options);

    expect(error.option).toBe(option);
    const { secretKey } = options as { readonly secretKey?: string | readonly string[] };
    const secrets = [secretKey ?? []].flat().filter(({ length }) => length > 6);
    for (const secret of secrets)
      expect(JSON.stringify([error.message, error.stack])).not.toContain(secret.slice(0, 12));
  });
});

/** The status of the response to a request that no Node client would send. */
function rawStatus(port: number, headers: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.setEncoding("latin1");
    socket.on("data", (text) => {
      answer += String(text);
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer.split(" ")[1] ?? ""));
    socket.write(`GET /gated HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`, "latin1");
  });
}
