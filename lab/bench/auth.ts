import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { type CryptoKey, importJWK, jwtVerify } from "jose";
import {
  APIKeyAuthBackend,
  APIKeys,
  type AuthenticationBackend,
  AuthenticationMiddleware,
  JWTAuthBackend,
  publicKeySet,
  SessionAuthBackend,
  SessionMiddleware,
  SimpleUser,
  TokenForUser,
  type TokenOptions,
} from "../../src/auth/index.ts";
import { hmacKey } from "../../src/auth/tokens/secret-ring.ts";
import { httpMessages } from "../../src/http/messages/http-messages.ts";
import type { Middleware } from "../../src/http/routing/middleware.ts";
import { HttpContext } from "../../src/kernel/context/http-context.ts";
import { PorticoApp } from "../../src/portico-app.ts";
import { memoryStores, type Stores } from "../../src/stores/stores.ts";

const isShort = process.argv.includes("--short");
const ROUNDS = isShort ? 200 : 1_500;
const WARM_UP = isShort ? 60 : 200;
/** Few: what fits between two interruptions by the rest of the machine counts. */
const CALLS = 40;
const MAX_OVER_JOSE = 1.15;
const MAX_OF_A_REPEAT = 0.2;

const SECRET = "vJ3qk2x8Zb7Lw0Ye5Rt9Ua1Sd6Fg4Hn!";
const AUDIENCE = "bench";
const { privateKey } = generateKeyPairSync("ed25519");
const ann = new SimpleUser("ann");

type Headers = Readonly<Record<string, string>>;
/** Something that is done over and over. */
type Work = () => Promise<unknown>;

/**
 * CPU that a request costs by each backend, over one without authentication; and that of the middleware beside bare jose.
 * Every round does everything in turn. The figure is the minimum over the rounds, which is what the code costs; the rest is
 * what else the machine was doing.
 */
export async function run(): Promise<void> {
  const best = await measure({ ...(await requests()), ...(await layers()) });
  const cost = (name: string): number => best.get(name) ?? Number.NaN;
  console.log(`CPU per call, the minimum of ${ROUNDS} rounds of ${CALLS} calls`);
  for (const [name, micros] of best) {
    const over = name.startsWith("request") ? `${(micros - cost("request")).toFixed(1).padStart(8)} µs over none` : "";
    console.log(`  ${name.padEnd(32)} ${micros.toFixed(1).padStart(7)} µs${over}`);
  }
  const ratios = ["HS256", "EdDSA"].map((alg) => cost(`middleware, ${alg}`) / cost(`jose, ${alg}`));
  const repeat = cost("middleware, HS256, remembered") / cost("jose, HS256");
  const [hmac = Number.NaN, edDSA = Number.NaN] = ratios;
  const isReached = Math.max(hmac, edDSA) <= MAX_OVER_JOSE && repeat <= MAX_OF_A_REPEAT;
  console.log(
    `auth: the middleware takes ${hmac.toFixed(2)} of bare jose with HS256, ${edDSA.toFixed(2)} with EdDSA, ${repeat.toFixed(2)} for a remembered token (goal ${MAX_OVER_JOSE} and ${MAX_OF_A_REPEAT}: ${isReached ? "reached" : "not reached"})`,
  );
}

/** Whole requests, without a socket. */
async function requests(): Promise<Readonly<Record<string, Work>>> {
  const [hmac, edDSA] = [await tokenBy({ secret: SECRET }), await tokenBy({ signingKey: privateKey })];
  const [sessions, keys] = [await signedIn(), await apiKey()];
  return {
    request: asking(),
    "request, JWT HS256": asking(bearer(hmac), [authentication(hmacBackend())]),
    "request, JWT HS256, remembered": asking(bearer(hmac), [authentication(hmacBackend(100))]),
    "request, JWT EdDSA": asking(bearer(edDSA), [authentication(edDSABackend())]),
    "request, session": asking({ cookie: sessions.cookie }, sessions.middleware, sessions.stores),
    "request, API key": asking({ "x-api-key": keys.text }, [authentication(keys.backend)]),
  };
}

/** The middleware alone, beside what it stands on. */
async function layers(): Promise<Readonly<Record<string, Work>>> {
  const [hmac, edDSA] = [await tokenBy({ secret: SECRET }), await tokenBy({ signingKey: privateKey })];
  const publicKey = (await importJWK(createPublicKey(privateKey).export({ format: "jwk" }), "EdDSA")) as CryptoKey;
  return {
    "jose, HS256": () => jwtVerify(hmac, HMAC_KEY, { algorithms: ["HS256"], audience: AUDIENCE }),
    "middleware, HS256": through(hmac, hmacBackend()),
    "middleware, HS256, remembered": through(hmac, hmacBackend(100)),
    "jose, EdDSA": () => jwtVerify(edDSA, publicKey, { algorithms: ["EdDSA"], audience: AUDIENCE }),
    "middleware, EdDSA": through(edDSA, edDSABackend()),
  };
}

const HMAC_KEY = hmacKey(Buffer.from(SECRET));

async function measure(works: Readonly<Record<string, Work>>): Promise<ReadonlyMap<string, number>> {
  const best = new Map<string, number>();
  for (let round = -WARM_UP; round < ROUNDS; round++) {
    for (const [name, work] of Object.entries(works)) {
      const before = process.cpuUsage();
      for (let call = 0; call < CALLS; call++) await work();
      const { user, system } = process.cpuUsage(before);
      const micros = (user + system) / CALLS;
      if (round >= 0) best.set(name, Math.min(best.get(name) ?? Number.POSITIVE_INFINITY, micros));
    }
  }
  return best;
}

function asking(headers: Headers = {}, middleware: readonly Middleware[] = [], stores: Stores = memoryStores()): Work {
  const app = new PorticoApp({ logger: false, stores });
  for (const layer of middleware) app.use(layer);
  app.get("/", ({ user }) => user.identity);
  return async () => {
    const { status } = await app.inject({ url: "/", headers });
    if (status !== 200) throw new Error(`answered ${status}`);
  };
}

const next = async (): Promise<void> => {};
const services = { log: { debug() {} }, actors: { identityOf: () => undefined }, messages: httpMessages };

function through(token: string, backend: AuthenticationBackend): Work {
  const middleware = authentication(backend);
  const headers = bearer(token);
  const exchange = { headers, rawHeaders: Object.entries(headers).flat() };
  const ctx = new HttpContext(services as never, exchange as never, 0);
  return async () => {
    await middleware.handle(ctx, next);
    if (!ctx.user.isAuthenticated) throw new Error("the request is anonymous");
  };
}

function authentication(backend: AuthenticationBackend): AuthenticationMiddleware {
  return new AuthenticationMiddleware({ userModel: SimpleUser, backend });
}

const claims = { identifier: "sub", audience: AUDIENCE } as const;
const hmacBackend = (cache = 0): JWTAuthBackend => new JWTAuthBackend({ ...claims, secretKey: SECRET, cache });
const edDSABackend = (): JWTAuthBackend => new JWTAuthBackend({ ...claims, jwks: publicKeySet(privateKey) });
const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` });

async function tokenBy(options: TokenOptions): Promise<string> {
  const { access_token } = await new TokenForUser(ann, {
    audience: AUDIENCE,
    accessSeconds: 86_400,
    ...options,
  }).tokenPair();
  return access_token;
}

async function signedIn(): Promise<{
  readonly cookie: string;
  readonly middleware: readonly Middleware[];
  readonly stores: Stores;
}> {
  const stores = memoryStores();
  const middleware = [new SessionMiddleware({ secret: SECRET }), authentication(new SessionAuthBackend())];
  const app = new PorticoApp({ logger: false, stores }).use(middleware[0] as Middleware);
  app.post("/login", ({ request }) => request.sessions.login(ann));
  const { headers } = await app.inject({ method: "POST", url: "/login" });
  const cookie = [headers["set-cookie"] ?? ""].flat()[0]?.split(";")[0] as string;
  return { cookie, middleware, stores };
}

async function apiKey(): Promise<{ readonly text: string; readonly backend: AuthenticationBackend }> {
  const { durable, bus } = memoryStores();
  const keys = new APIKeys({ store: durable, bus });
  const { key } = await keys.create(ann, { name: "bench" });
  return { text: key, backend: new APIKeyAuthBackend({ keys }) };
}

if (import.meta.main) await run();
