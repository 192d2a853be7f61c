import { expect } from "vitest";
import { type Answer, type Header, JSON_TYPE, sendTo } from "../../../../test/system/corpus/answer.ts";
import type { WireAnswer, WireRequest } from "../../../../test/system/corpus/wire.ts";
import { password, type Shop } from "../open-shop.ts";

const opened: { shop?: Shop } = {};

/** One shop for all rows. */
export function replayOn(shop: Shop): void {
  opened.shop = shop;
}

export function theShop(): Shop {
  if (opened.shop === undefined) throw new Error("the shop is not open");
  return opened.shop;
}

export function send(path: string, request: WireRequest = {}): Promise<Answer> {
  return sendTo(theShop().client.port, path, request);
}

/** Sends JSON. Text is sent as it is. */
export function post(path: string, body: unknown, headers: readonly Header[] = [], from?: string): Promise<Answer> {
  const text = typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  return send(path, {
    method: "POST",
    headers: [JSON_TYPE, ...headers],
    body: text,
    ...(from === undefined ? {} : { from }),
  });
}

/** Runs a document. */
export function ask(query: string, variables?: object, headers: readonly Header[] = []): Promise<Answer> {
  return post("/graphql", { query, variables }, headers);
}

/** Returns an unused client address with fresh limits. On Linux, all of 127.0.0.0/8 is this machine. */
export function newAddress(): string {
  const n = ++addresses;
  return `127.1.${n >> 8}.${n & 255 || 1}`;
}
let addresses = 255;

/** Everything that must never be logged: passwords, tokens, keys, cookies, links. */
export const credentials: Set<string> = new Set([password]);

export function bearer(token: string): Header {
  return ["authorization", `Bearer ${token}`];
}

export interface Pair {
  readonly access_token: string;
  readonly refresh_token: string;
}

export async function tokensOf(name: string, secret: string = password): Promise<Pair> {
  const answer = await post("/account/token", { identifier: name, password: secret }, [], newAddress());
  expect(answer.verdict).toBe("200");
  const pair = answer.said as unknown as Pair;
  credentials.add(pair.access_token).add(pair.refresh_token);
  return pair;
}

/** The cookie of a new session, as a browser sends it back. */
export async function sessionOf(
  name: string,
  secret: string = password,
  headers: readonly Header[] = [],
): Promise<string> {
  const answer = await post("/account/login", { identifier: name, password: secret }, headers, newAddress());
  expect(answer.verdict).toBe("200");
  return cookieIn(answer);
}

export function cookieIn(answer: WireAnswer): string {
  const cookie = answer.cookies.find((line) => line.startsWith("__Host-portico_session="))?.split(";")[0] ?? "";
  credentials.add(cookie.slice(cookie.indexOf("=") + 1));
  return cookie;
}

/** Returns the caller as a gated route sees it: "200 reader1", or the rejection. */
export async function whoIs(...headers: readonly Header[]): Promise<string> {
  const answer = await send("/account/me", { headers });
  return answer.status === 200 ? `200 ${(answer.said as { username?: string }).username}` : answer.verdict;
}
export const ANONYMOUS = "401 unauthenticated";

const known: Record<string, Promise<Pair>> = {};

/** Returns the header of a seeded user, who signs in once for all rows. */
export async function as(name: string): Promise<Header> {
  known[name] ??= tokensOf(name);
  return bearer((await known[name]).access_token);
}

/** Registers a user for one row. */
export async function newcomer(
  name: string,
  secret = "a long enough secret",
): Promise<{ email: string; secret: string }> {
  const email = `${name}@shop.example`;
  const answer = await post("/account/register", { email, username: name, password: secret }, [], newAddress());
  expect(answer.verdict).toBe("202");
  credentials.add(secret);
  return { email, secret };
}
