import { type CounterStore, memoryStores, PorticoApp } from "portico";
import { authentication, type Mail } from "portico/auth";
import { type ManualClock, manualClock, type TestClient, type TestResponse, testClient } from "portico/testing";
import { codeAt } from "../../../../scripts/clients/authenticator-app.ts";
import { MemoryKeyValue } from "../../../../src/stores/memory-key-value.ts";
import { cookieHeader } from "../../../sign-in.ts";
import { FakeProvider } from "../../fake-provider.ts";
import { secret } from "../account-harness.ts";
import { memoryUsers } from "../memory-users.ts";

type Headers = Readonly<Record<string, string>>;

/** Hashes nothing, because the model is about who may do what. */
const plain = {
  hash: async (password: string) => password,
  verify: async (password: string, stored: string | null) => ({ isRight: password === stored, needsRehash: false }),
};

/** Everything with which a person may get into an account. */
export interface Person {
  readonly name: string;
  /** The addresses whose emails the person reads. */
  readonly mailboxes: readonly string[];
  /** The newest one. */
  password: string;
  readonly sessions: Headers[];
  readonly refreshTokens: string[];
  readonly passwords: Set<string>;
  readonly secrets: Set<string>;
  readonly links: Set<string>;
}

export function person(name: string, mailboxes: readonly string[]): Person {
  const password = `the long password of ${name}`;
  return {
    name,
    mailboxes,
    password,
    sessions: [],
    refreshTokens: [],
    passwords: new Set([password]),
    secrets: new Set(),
    links: new Set(),
  };
}

/** Two applications with the same accounts: one sends emails, and one, an earlier release without a mailer, doesn't. */
export class OwnershipWorld {
  readonly mails: Mail[] = [];
  readonly clock: ManualClock = manualClock(Date.UTC(2026, 0, 1));
  readonly #apps: readonly PorticoApp[];
  readonly #clients: readonly [TestClient, TestClient];
  #calls = 0;

  constructor() {
    const { clock, mails } = this;
    const memory = memoryStores();
    const stores = { ...memory, durable: new MemoryKeyValue({ clock }), counters: countedBy(clock, memory.counters) };
    const userModel = memoryUsers(plain);
    const options = { userModel, secret, audience: "shop", signInMails: true, knownDevices: true };
    const make = (mailer?: (mail: Mail) => Promise<void>): PorticoApp =>
      new PorticoApp({
        logger: false,
        publicUrl: "https://shop.example",
        trustedProxies: ["loopback"],
        clock,
        stores,
      }).use(
        authentication({
          ...options,
          providers: [new FakeProvider("acme")],
          ...(mailer === undefined ? {} : { mailer }),
        }),
      );
    this.#apps = [make(async (mail) => void mails.push(mail)), make()];
    this.#clients = this.#apps.map((app) => testClient(app)) as unknown as readonly [TestClient, TestClient];
  }

  async close(): Promise<void> {
    await Promise.all(this.#apps.map((app) => app.close()));
  }

  /** Calls an account route from an address of its own, because limits per address are not the subject. */
  async call(path: string, body: object | null, headers: Headers = {}, isEarlier = false): Promise<TestResponse> {
    this.#calls++;
    const from = `10.${(this.#calls >> 16) & 255}.${(this.#calls >> 8) & 255}.${this.#calls & 255}`;
    const given = { headers: { "x-forwarded-for": from, ...headers } };
    const client = this.#clients[isEarlier ? 1 : 0];
    const url = `/account${path}`;
    const response = await (body === null ? client.get(url, given) : client.post(url, { ...given, body }));
    // Emails are sent after the response.
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    return response;
  }

  /** The newest email of a kind to one of the person's mailboxes. */
  mailTo({ mailboxes }: Person, kind: Mail["kind"]): { readonly token: string; readonly code: string } | null {
    const mail = this.mails.findLast((sent) => sent.kind === kind && mailboxes.includes(sent.to));
    if (mail?.url === undefined || mail.url === null) return null;
    return { token: new URL(mail.url).searchParams.get("token") ?? "", code: mail.code ?? "" };
  }

  /** Keeps what a response gives the person. */
  keep(who: Person, response: TestResponse): boolean {
    if (response.status >= 300 && response.status !== 303) return false;
    if (response.cookies.some((cookie) => /portico_session=[^;]/.test(cookie)))
      who.sessions.push(cookieHeader(response));
    const tokens = (response.status === 200 ? response.json() : {}) as Record<string, string | undefined>;
    if (tokens["access_token"] !== undefined) who.sessions.push({ authorization: `Bearer ${tokens["access_token"]}` });
    if (tokens["refresh_token"] !== undefined) who.refreshTokens.push(tokens["refresh_token"]);
    return response.status < 300;
  }

  /** Signs in with a password, and with the second factor if the person has it. */
  async signIn(who: Person, identifier: string, password: string, path = "/login"): Promise<boolean> {
    return this.finish(who, await this.call(path, { identifier, password }));
  }

  /** Completes a sign-in that may wait for a second factor. */
  async finish(who: Person, begun: TestResponse): Promise<boolean> {
    if (begun.status !== 403) return this.keep(who, begun);
    const { pending } = begun.json() as { pending?: string };
    for (const one of who.secrets) {
      if (pending === undefined) break;
      this.clock.advance(31_000);
      const code = codeAt(one, this.clock.now());
      if (this.keep(who, await this.call("/second-factor", { pending, code }))) return true;
    }
    return false;
  }

  /** Signs in at the provider with the account that the person has there. */
  async signInByProvider(who: Person): Promise<void> {
    const begun = await this.call("/providers/acme", null);
    await this.#callback(who, begun.headers["location"] as string, cookieHeader(begun));
  }

  /** Links the person's account at the provider to the account of the session. */
  async link(who: Person, session: Headers, isEarlier: boolean): Promise<void> {
    if (session["cookie"] === undefined) return;
    const begun = await this.call("/providers/acme/link", { password: who.password }, session, isEarlier);
    const { url } = (begun.status === 200 ? begun.json() : {}) as { url?: string };
    if (url === undefined) return;
    const cookie = [session["cookie"], cookieHeader(begun)["cookie"]].join("; ");
    await this.#callback(who, url, { cookie }, isEarlier);
    who.links.add(who.name);
  }

  async #callback(who: Person, url: string, headers: Headers, isEarlier = false): Promise<void> {
    const state = new URL(url).searchParams.get("state");
    const back = await this.call(`/providers/acme/callback?code=${who.name}&state=${state}`, null, headers, isEarlier);
    this.keep(who, back);
  }

  /** The accounts that the person gets into with everything that the person holds. */
  async reach(who: Person, identifiers: readonly string[]): Promise<ReadonlySet<string>> {
    for (const refresh_token of who.refreshTokens.splice(0))
      this.keep(who, await this.call("/refresh", { refresh_token }));
    for (const identifier of identifiers)
      for (const password of who.passwords) await this.signIn(who, identifier, password);
    if (who.links.size > 0) await this.signInByProvider(who);
    const found = new Set<string>();
    for (const session of who.sessions.splice(0)) {
      const me = await this.call("/me", null, session);
      if (me.status !== 200) continue;
      found.add((me.json() as { id: string }).id);
      who.sessions.push(session);
    }
    return found;
  }
}

/** Counts in windows of the clock, so that limits end when it has advanced. */
function countedBy(clock: ManualClock, counters: CounterStore): CounterStore {
  const inWindow = (key: string, windowMs: number): string => `${Math.floor(clock.now() / windowMs)} ${key}`;
  return {
    increment: (key, windowMs) => counters.increment(inWindow(key, windowMs), windowMs),
    reset: (key, windowMs) => counters.reset(inWindow(key, windowMs), windowMs),
  };
}
