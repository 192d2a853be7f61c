import { buildClientSchema, type GraphQLSchema, getIntrospectionQuery, type IntrospectionQuery } from "graphql";
import { type PlainRequest, plainRequest } from "./plain-request.ts";

/** Real values of the running shop, from which generators make inputs. */
export interface Known {
  readonly schema: GraphQLSchema;
  readonly accessTokens: readonly string[];
  /** Of other sign-ins, because using one twice revokes all tokens of its sign-in. */
  readonly refreshTokens: readonly string[];
  /** Cookie headers of sessions. */
  readonly cookies: readonly string[];
  readonly apiKeys: readonly string[];
  /** From routes and from connections. */
  readonly cursors: readonly string[];
}

/** Stands where an input has a made-up credential, and must never appear in the log or in a response. */
export const CANARY = "canary-4b1f77d0c9e2a653";
export const PASSWORD = "correct horse battery";
const USERS = [
  "reader1",
  "reader2",
  "reader3",
  "reader4",
  "reader5",
  "reader6",
  "seller1",
  "seller2",
  "staff",
  "admin",
];

/** Signs users in and reads the schema and some pages. Each call needs another number, for addresses with fresh limits. */
export async function learn(port: number, number: number): Promise<Known> {
  const signedIn = [];
  for (const [index, name] of USERS.entries())
    signedIn.push(await signIn(port, name, `127.0.${1 + index}.${1 + (number % 250)}`));
  const introspection = await json(port, { path: "/graphql", body: { query: getIntrospectionQuery() } });
  return {
    schema: buildClientSchema(introspection["data"] as IntrospectionQuery),
    accessTokens: signedIn.map(({ access }) => access),
    refreshTokens: await learnRefreshTokens(port, number),
    cookies: signedIn.map(({ cookie }) => cookie),
    apiKeys: signedIn.map(({ apiKey }) => apiKey),
    cursors: await learnCursors(port),
  };
}

interface SignedIn {
  readonly access: string;
  readonly cookie: string;
  readonly apiKey: string;
}

async function signIn(port: number, identifier: string, from: string): Promise<SignedIn> {
  const body = { identifier, password: PASSWORD };
  const tokens = await json(port, { path: "/account/token", body, from });
  const access = String(tokens["access_token"]);
  const session = await plainRequest(port, { path: "/account/login", body, from });
  const cookies = (session.headers["set-cookie"] ?? []).map((line) => line.split(";", 1)[0]);
  const headers = { authorization: `Bearer ${access}` };
  await revokeKeys(port, { headers, from });
  const key = await json(port, { path: "/account/keys", body: { name: "fuzz" }, headers, from });
  return { access, cookie: cookies.join("; "), apiKey: String(key["key"]) };
}

/** Inputs create keys, too: a long run would reach the limit of keys per user. */
async function revokeKeys(port: number, as: Pick<PlainRequest, "headers" | "from">): Promise<void> {
  const { text } = await plainRequest(port, { path: "/account/keys", ...as });
  for (const { id } of JSON.parse(text) as readonly { readonly id: string }[])
    await plainRequest(port, { method: "DELETE", path: `/account/keys/${id}`, ...as });
}

async function learnRefreshTokens(port: number, number: number): Promise<readonly string[]> {
  const found = [];
  for (const identifier of USERS.slice(0, 4)) {
    const from = `127.0.50.${1 + (number % 250)}`;
    const tokens = await json(port, { path: "/account/token", body: { identifier, password: PASSWORD }, from });
    found.push(String(tokens["refresh_token"]));
  }
  return found;
}

async function learnCursors(port: number): Promise<readonly string[]> {
  const paths = ["/books/newest", "/books/newest?sort=title", "/books/newest?genre=poetry"];
  const pages = await Promise.all(paths.map((path) => json(port, { path })));
  const query = "{ books(first: 3) { edges { cursor } pageInfo { endCursor } } }";
  const graph = await json(port, { path: "/graphql", body: { query } });
  const texts = JSON.stringify([pages, graph]).matchAll(/"(?:next_cursor|prev_cursor|cursor|endCursor)":"([^"]+)"/g);
  return [...texts].map(([, cursor = ""]) => cursor);
}

async function json(port: number, ask: PlainRequest): Promise<Readonly<Record<string, unknown>>> {
  const { status, text } = await plainRequest(port, ask);
  if (status >= 300) throw new Error(`${ask.path} returned ${status}: ${text}`);
  return JSON.parse(text) as Record<string, unknown>;
}
