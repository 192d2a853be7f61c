import { createHmac } from "node:crypto";
import { AnonymousUser, ConfigurationError, PorticoApp } from "portico";
import {
  type AuthenticationBackend,
  AuthenticationMiddleware,
  JWTAuthBackend,
  type JWTAuthOptions,
  SimpleUser,
  type UserModel,
  useAuth,
} from "portico/auth";
import { type LogCatcher, logCatcher, type TestClient, type TestResponse } from "portico/testing";

export const SECRET = "vJ3qk2x8Zb7Lw0Ye5Rt9Ua1Sd6Fg4Hn!";
export const OTHER_SECRET = "another 0123456789 secret, as long as it must be";
export const NOW = 1_800_000_000;
/** A clock that stands at `NOW`. */
export const clock = { now: (): number => NOW * 1000, monotonic: (): number => 0 };

/** A backend for tokens of ours, at `NOW`. */
export function backendFor(options: JWTAuthOptions = {}): JWTAuthBackend {
  const keys = options.jwks === undefined ? { secretKey: SECRET } : {};
  return new JWTAuthBackend({ ...keys, identifier: "sub", clock, ...options });
}

export interface TokenApp {
  readonly app: PorticoApp;
  readonly log: LogCatcher;
}

/** An app with an open and a gated route behind the backends, and its log. */
export function tokenApp(
  backend: AuthenticationBackend | readonly AuthenticationBackend[],
  userModel: UserModel<SimpleUser> = SimpleUser,
): TokenApp {
  const log = logCatcher();
  const app = new PorticoApp({ logger: log })
    .use(new AuthenticationMiddleware({ userModel, backend }))
    .get("/open", ({ user, request }) => ({
      who: user.identity,
      auth: request.scope.auth,
      anonymous: user instanceof AnonymousUser,
    }))
    .post("/open", async ({ user, request }) => {
      await request.json();
      return { who: user.identity, auth: request.scope.auth, anonymous: user instanceof AnonymousUser };
    })
    .get("/gated", { auth: useAuth() }, ({ user }) => user.identity);
  return { app, log };
}

export type Part = string | Uint8Array | object;

/** A token with whatever in it, signed as HS256 signs. */
export function forge(payload: Part, header: Part = { alg: "HS256", typ: "JWT" }, secret: string = SECRET): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

export const claims: { readonly sub: string; readonly iat: number; readonly exp: number } = {
  sub: "ann",
  iat: NOW - 1,
  exp: NOW + 600,
};

export function encode(part: Part): string {
  const bytes = typeof part === "string" || part instanceof Uint8Array ? part : JSON.stringify(part);
  return Buffer.from(bytes).toString("base64url");
}

export function bearing(token: string): { readonly headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${token}` } };
}

/** How the two routes answer: a status, and whom the open one saw. */
export async function standing(client: TestClient, authorization: string): Promise<readonly [number, string | null]> {
  const headers = { authorization };
  const [gated, open] = [await client.get("/gated", { headers }), await client.get("/open", { headers })];
  const { who, auth } = open.json() as { readonly who: string; readonly auth: string | null };
  return [gated.status, auth === null ? null : `${auth}:${who}`];
}

export const ANONYMOUS = [401, null] as const;
export const ANN = [200, "jwt:ann"] as const;

export function refusalOf({ status, headers }: TestResponse): readonly unknown[] {
  return [status, headers["www-authenticate"], headers["cache-control"]];
}

/** The error with which something refuses to be made. */
export function refusalFrom(make: () => unknown): ConfigurationError {
  try {
    make();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error("the options were taken");
}
