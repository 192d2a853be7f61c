import { memoryStores, type SessionManager } from "portico";
import { useAuth } from "portico/auth";
import { type ManualClock, manualClock, type TestResponse } from "portico/testing";
import { onTestFinished } from "vitest";
import { codeAt } from "../../../scripts/clients/authenticator-app.ts";
import { MemoryKeyValue } from "../../../src/stores/memory-key-value.ts";
import { cookieHeader } from "../../sign-in.ts";
import {
  type AccountHarness,
  accountHarness,
  ann,
  type HarnessOptions,
  password,
} from "../accounts/account-harness.ts";

export type Headers = Readonly<Record<string, string>>;
export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly pending: string;
  readonly methods: readonly string[];
}

export const bearer = ({ access_token }: Tokens): Headers => ({ authorization: `Bearer ${access_token}` });

export interface FactorHarness extends AccountHarness {
  readonly clock: ManualClock;
  /** Signs in with the password alone. */
  readonly login: (path?: "/login" | "/token", body?: object) => Promise<TestResponse>;
  /** Signs in with one factor, by a route of the application, whether or not there is a second one. */
  readonly weakly: () => Promise<Headers>;
  /** Posts to the route of the second factor. */
  readonly prove: (body: object, headers?: Headers) => Promise<TestResponse>;
  /** Adds an authenticator app to the caller's account. */
  readonly enrol: (headers: Headers) => Promise<EnrolledApp>;
}

async function ownSignIn({ users }: AccountHarness, sessions: SessionManager): Promise<string> {
  const user = await users.objects.get({ email: ann.email });
  if (user !== null) await sessions.login(user);
  return "signed in";
}

interface EnrolledApp {
  /** The headers of the raised session. */
  readonly headers: Headers;
  readonly secret: string;
  readonly recovery: readonly string[];
  /** The code that the app shows now, or some steps of 30 seconds away. */
  readonly code: (steps?: number) => string;
}

/** An application in which ann has an account, with a clock that stands still. */
export async function factorHarness(options: HarnessOptions = {}): Promise<FactorHarness> {
  const clock = manualClock(Date.UTC(2026, 0, 1));
  const harness = accountHarness({
    isOwned: true,
    stores: { ...memoryStores(), durable: new MemoryKeyValue({ clock }) },
    ...options,
    app: { clock, ...options.app },
  });
  harness.app
    // A sign-in of the application, which asks for no second factor.
    .post("/own-sign-in", ({ request }) => ownSignIn(harness, request.sessions))
    .get("/payout", { auth: useAuth({ level: "mfa", freshSeconds: 600 }) }, () => "paid")
    .socket("/live", { auth: true }, async ({ socket }) => {
      for await (const text of socket) socket.send(String(text));
    });
  onTestFinished(() => harness.app.close());
  const { post } = harness;
  await post("/register", ann);
  return {
    ...harness,
    clock,
    login: (path = "/login", body = {}) => post(path, { identifier: ann.email, password, ...body }),
    weakly: async () => cookieHeader(await harness.client.post("/own-sign-in")),
    prove: (body, headers = {}) => post("/second-factor", body, undefined, headers),
    async enrol(headers) {
      const { secret } = (await post("/factors/totp", {}, undefined, headers)).json() as { secret: string };
      const code = (steps = 0): string => codeAt(secret, clock.now() + steps * 30_000);
      const confirmed = await post("/factors/totp/confirm", { code: code() }, undefined, headers);
      const { recovery_codes, ...tokens } = confirmed.json() as Tokens & { recovery_codes: readonly string[] };
      const raised = confirmed.cookies.length > 0 ? cookieHeader(confirmed) : bearer(tokens);
      return { headers: raised, secret, recovery: recovery_codes, code };
    },
  };
}
