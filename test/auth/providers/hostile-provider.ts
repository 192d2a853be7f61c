import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { loopbackServer } from "./provider-harness.ts";

export const clientId = "bookshop";
export const clientSecret = "the-secret-of-the-bookshop";

type Claims = Record<string, unknown>;
type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** The answers of the provider. Tests replace some of them with hostile ones. */
export interface Answers {
  metadata: Claims;
  keys: JWK[];
  /** The parameters that the browser comes back with. */
  callback: Record<string, string>;
  claims: Claims;
  userinfo: Claims;
  /** Turns the claims into the id_token. */
  idToken: (claims: Claims) => string | Promise<string>;
  /** Replaces whole endpoints, by path. */
  endpoints: Record<string, Handler>;
}

export interface HostileProvider {
  readonly issuer: string;
  readonly answers: Answers;
  /** The paths that were requested. */
  readonly requests: string[];
  readonly signer: Signer;
}

export interface Signer {
  readonly jwk: JWK;
  readonly sign: (claims: Claims, header?: Claims) => Promise<string>;
}

/** A provider whose every answer can be replaced. Unless they are, its sign-ins are valid. */
export async function hostileProvider(): Promise<HostileProvider> {
  const server = await loopbackServer();
  const issuer = server.url;
  const signer = await newSigner("first");
  const requests: string[] = [];
  /** The nonce of each code. */
  const nonces: string[] = [];
  const answers: Answers = {
    metadata: {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      userinfo_endpoint: `${issuer}/userinfo`,
      jwks_uri: `${issuer}/jwks`,
      id_token_signing_alg_values_supported: ["ES256", "HS256", "none"],
      authorization_response_iss_parameter_supported: true,
    },
    keys: [signer.jwk],
    callback: { iss: issuer },
    claims: { iss: issuer, aud: clientId, sub: "ann", email: "ann@acme.com", email_verified: true },
    userinfo: { sub: "ann", email: "ann@acme.com", email_verified: true },
    idToken: (claims) => signer.sign(claims),
    endpoints: {},
  };
  const endpoints: Record<string, Handler> = {
    "/.well-known/openid-configuration": (_, response) => json(response, answers.metadata),
    "/jwks": (_, response) => json(response, { keys: answers.keys }),
    "/userinfo": (_, response) => json(response, answers.userinfo),
    "/authorize": (request, response) => {
      const asked = new URL(request.url ?? "", issuer).searchParams;
      nonces.push(asked.get("nonce") ?? "");
      const back = new URL(asked.get("redirect_uri") ?? "");
      const given = { state: asked.get("state") ?? "", code: `code-${nonces.length - 1}`, ...answers.callback };
      for (const [name, value] of Object.entries(given)) back.searchParams.set(name, value);
      response.writeHead(303, { location: back.href }).end();
    },
    "/token": async (request, response) => {
      const code = new URLSearchParams(await text(request)).get("code") ?? "";
      const nonce = nonces[Number(code.slice("code-".length))];
      const now = Math.floor(Date.now() / 1000);
      const id_token = await answers.idToken({ iat: now, exp: now + 300, nonce, ...answers.claims });
      json(response, { access_token: "an-access-token", token_type: "bearer", expires_in: 300, id_token });
    },
  };
  server.handle = (request, response) => {
    const path = (request.url ?? "").split("?")[0] ?? "";
    requests.push(path);
    const handler = answers.endpoints[path] ?? endpoints[path];
    if (handler === undefined) response.writeHead(404).end();
    else handler(request, response);
  };
  return { issuer, answers, requests, signer };
}

export async function newSigner(kid: string): Promise<Signer> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" },
    sign: (claims, header = {}) =>
      new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid, ...header }).sign(privateKey),
  };
}

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
}
