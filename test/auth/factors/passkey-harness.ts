import type { TestResponse } from "portico/testing";
import { cookieHeader } from "../../sign-in.ts";
import type { HarnessOptions } from "../accounts/account-harness.ts";
import { type FactorHarness, factorHarness, type Headers } from "./factor-harness.ts";
import type { Deviation, SoftwareAuthenticator } from "./software-authenticator.ts";

type Body = Readonly<Record<string, unknown>>;

/** An application with passkeys, in which ann has an account. */
export interface PasskeyHarness extends FactorHarness {
  /** The session of a sign-in with ann's password, for an account without a second factor. */
  readonly byPassword: () => Promise<Headers>;
  readonly registrationOptions: (headers: Headers) => Promise<Body>;
  /** Adds a passkey to the caller's account. */
  readonly add: (
    headers: Headers,
    passkey: SoftwareAuthenticator,
    more?: { readonly name?: string; readonly deviation?: Deviation },
  ) => Promise<TestResponse>;
  /** Signs in with a passkey alone. */
  readonly signIn: (passkey: SoftwareAuthenticator, deviation?: Deviation, more?: object) => Promise<TestResponse>;
  readonly list: (headers: Headers) => Promise<readonly Body[]>;
}

export async function passkeyHarness(options: HarnessOptions = {}): Promise<PasskeyHarness> {
  const account = { passkeys: { rpName: "The bookshop" }, ...options.account };
  const harness = await factorHarness({ ...options, account });
  const { client, login, post } = harness;
  const registrationOptions = async (headers: Headers): Promise<Body> =>
    optionsIn(await post("/passkeys/options", {}, undefined, headers));
  return {
    ...harness,
    byPassword: async () => cookieHeader(await login()),
    registrationOptions,
    async add(headers, passkey, { name, deviation } = {}) {
      const credential = passkey.create(await registrationOptions(headers), deviation);
      return post("/passkeys", { credential, ...(name === undefined ? {} : { name }) }, undefined, headers);
    },
    async signIn(passkey, deviation, more = {}) {
      const begun = await post("/passkeys/sign-in/options");
      const credential = passkey.get(optionsIn(begun), deviation);
      return post("/passkeys/sign-in", { credential, ...more }, undefined, cookieHeader(begun));
    },
    async list(headers) {
      return (await client.get("/account/passkeys", { headers })).json() as readonly Body[];
    },
  };
}

/** The member `options` of a response. */
export function optionsIn(answer: TestResponse): Body {
  return (answer.json() as { readonly options: Body }).options;
}
