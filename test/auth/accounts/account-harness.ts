import { memoryStores, PorticoApp, type PorticoAppOptions, type Stores } from "portico";
import {
  type AccountEvent,
  type AccountModel,
  type AuthenticationOptions,
  authentication,
  type CreateUserInput,
  type Mail,
} from "portico/auth";
import { type TestClient, type TestResponse, testClient } from "portico/testing";
import { expect } from "vitest";
import { cookieHeader } from "../../sign-in.ts";
import { memoryUsers } from "./memory-users.ts";

export const secret = "the-one-secret-of-the-account-tests-0123456789";
export const password = "correct horse battery staple";
export const ann: CreateUserInput = { email: "ann@example.org", username: "ann", password };

export interface AccountHarness {
  readonly app: PorticoApp;
  readonly client: TestClient;
  readonly mails: Mail[];
  readonly events: AccountEvent[];
  readonly users: AccountModel;
  /** Posts JSON to an account route, from its own IP address. */
  readonly post: (
    path: string,
    body?: unknown,
    from?: string,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<TestResponse>;
  /** The headers of a session. */
  readonly session: (identifier?: string, secretWord?: string) => Promise<Readonly<Record<string, string>>>;
}

export interface HarnessOptions {
  readonly users?: AccountModel;
  /** Overrides of `users.objects`. */
  readonly objects?: Partial<AccountModel["objects"]>;
  readonly stores?: Stores;
  readonly account?: Partial<AuthenticationOptions>;
  /** Whether every user who registers has verified the address at once. */
  readonly isOwned?: boolean;
  readonly app?: PorticoAppOptions;
}

/** An application with accounts, and what it has told and sent. */
export function accountHarness({
  users: given = memoryUsers(),
  objects,
  stores,
  account,
  isOwned = false,
  app: options,
}: HarnessOptions = {}): AccountHarness {
  const changed = objects === undefined ? given : withObjects(given, objects);
  const users = isOwned ? withObjects(changed, verifiedBy(changed)) : changed;
  const mails: Mail[] = [];
  const events: AccountEvent[] = [];
  const app = new PorticoApp({
    logger: false,
    publicUrl: "https://shop.example",
    // Each test uses its own IP addresses, which a trusted proxy reports.
    trustedProxies: ["loopback"],
    stores: stores ?? memoryStores(),
    ...options,
  });
  app.use(
    authentication({
      userModel: users,
      secret,
      audience: "bookshop",
      mailer: async (mail) => void mails.push(mail),
      onEvent: (event) => void events.push(event),
      ...account,
    }),
  );
  const client = testClient(app);
  const post: AccountHarness["post"] = (path, body = {}, from = "203.0.113.1", headers = {}) =>
    client.post(`/account${path}`, { body, headers: { "x-forwarded-for": from, ...headers } });
  return {
    app,
    client,
    mails,
    events,
    users,
    post,
    async session(identifier = ann.email, word = password) {
      const answer = await post("/login", { identifier, password: word });
      expect(answer.status).toBe(200);
      return cookieHeader(answer);
    },
  };
}

/** Users who have verified their address, so that they may add credentials that last. */
export const owned: HarnessOptions = { isOwned: true };

function verifiedBy({ objects }: AccountModel): Partial<AccountModel["objects"]> {
  return {
    async createUser(input) {
      const user = await objects.createUser(input);
      await objects.markVerified(user);
      return (await objects.get({ id: user.identity })) ?? user;
    },
  };
}

function withObjects(users: AccountModel, replaced: Partial<AccountModel["objects"]>): AccountModel {
  const objects = new Proxy(users.objects, {
    get(target, name) {
      const method = (replaced as Record<PropertyKey, unknown>)[name] ?? Reflect.get(target, name);
      return typeof method === "function" ? method.bind(target) : method;
    },
  });
  return { loadUser: (identity) => users.loadUser(identity), objects };
}

/** The token in the link of the last mail of a kind. */
export function tokenOf(mails: readonly Mail[], kind: Mail["kind"]): string {
  const url = mails.findLast((mail) => mail.kind === kind)?.url ?? "";
  return new URL(url).searchParams.get("token") ?? "";
}
