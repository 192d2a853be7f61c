import type { CDPSession, Page } from "playwright-core";
import { PorticoApp, type Stores } from "portico";
import { type AccountEvent, authentication, useAuth } from "portico/auth";
import { onTestFinished } from "vitest";
import { visit } from "../../browser.ts";
import { ann, password, secret } from "../accounts/account-harness.ts";
import { memoryUsers } from "../accounts/memory-users.ts";

export interface Answer<T = Readonly<Record<string, unknown>>> {
  readonly status: number;
  readonly body: T;
}

/** A page of an application with passkeys, in a browser with an authenticator that needs no hands. */
export interface PasskeyBrowser {
  readonly page: Page;
  readonly devices: CDPSession;
  readonly authenticatorId: string;
  readonly events: readonly AccountEvent[];
  /** Sends a request from the page, with its cookies. */
  readonly send: (method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<Answer>;
  /** Lets the browser create or use a passkey with these options, and returns its response. */
  readonly create: (options: unknown) => Promise<object>;
  readonly get: (options: unknown) => Promise<object>;
}

const SCRIPT = `
  async function send(method, path, body, headers = {}) {
    const response = await fetch(path, {
      method,
      headers: { ...(body == null ? {} : { "content-type": "application/json" }), ...headers },
      ...(body == null ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) };
  }
  async function create(options) {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await navigator.credentials.create({ publicKey })).toJSON();
  }
  async function get(options) {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return (await navigator.credentials.get({ publicKey })).toJSON();
  }
`;

/** Starts an application in which ann has an account, and opens its page on `localhost`. */
export async function passkeyBrowser(stores?: Stores): Promise<PasskeyBrowser> {
  const events: AccountEvent[] = [];
  const users = memoryUsers();
  const app = new PorticoApp({ logger: false, ...(stores === undefined ? {} : { stores }) })
    .use(
      authentication({
        userModel: users,
        secret,
        audience: "bookshop",
        mailer: async () => {},
        onEvent: (event) => void events.push(event),
        passkeys: { rpName: "The bookshop" },
      }),
    )
    .get("/", ({ response }) => response.html('<!doctype html><link rel="icon" href="data:,">'))
    .get("/payout", { auth: useAuth({ level: "mfa" }) }, () => "paid");
  onTestFinished(() => app.close());
  const { url } = await app.listen({ port: 0 });
  const home = url.replace("127.0.0.1", "localhost");
  const { page } = await visit(home);
  await page.goto(`${home}/`);
  await page.evaluate(SCRIPT.replaceAll(/async function (\w+)/g, "globalThis.$1 = async function"));
  const devices = await page.context().newCDPSession(page);
  await devices.send("WebAuthn.enable");
  const { authenticatorId } = await devices.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const call = <T>(name: string, args: readonly unknown[]): Promise<T> =>
    page.evaluate(`globalThis.${name}(...${JSON.stringify(args.map((arg) => arg ?? null))})`);
  const send: PasskeyBrowser["send"] = (...args) => call("send", args);
  await send("POST", "/account/register", ann);
  // A passkey is for the owner of the address only.
  const user = await users.objects.get({ email: ann.email });
  if (user !== null) await users.objects.markVerified(user);
  return {
    page,
    devices,
    authenticatorId,
    events,
    send,
    create: (options) => call("create", [options]),
    get: (options) => call("get", [options]),
  };
}

export const credentials: { readonly identifier: string; readonly password: string } = {
  identifier: ann.email,
  password,
};
