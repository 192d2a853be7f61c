import { generateKeyPairSync } from "node:crypto";
import { type Configuration, Provider } from "oidc-provider";
import { vi } from "vitest";
import { loopbackServer } from "./provider-harness.ts";

export interface RealProvider {
  readonly issuer: string;
  /** Begins to serve, for an application at this URL. */
  readonly serve: (shop: string) => Provider;
  /** The accounts, by `sub`. */
  readonly people: Map<string, { email: string; email_verified: boolean }>;
  /** The `sub` of the person who signs in next. */
  who: string;
}

const KEY = {
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }),
  alg: "ES256",
};
export const clientId = "bookshop";
export const clientSecret = "the-secret-of-the-bookshop";

/**
 * `oidc-provider` on a loopback address. The test decides who the person is.
 *
 * @param page the HTML of the sign-in page, whose form posts to its own URL; without one it asks no questions
 */
export async function realProvider(host?: string, page?: string): Promise<RealProvider> {
  const server = await loopbackServer(host);
  const real: RealProvider = {
    issuer: server.url,
    people: new Map([["ann-at-acme", { email: "ann@acme.com", email_verified: true }]]),
    who: "ann-at-acme",
    serve(shop) {
      // It warns that its data are in memory, which is meant.
      const quiet = vi.spyOn(console, "warn").mockImplementation(() => {});
      const provider = new Provider(server.url, configuration(real, shop));
      quiet.mockRestore();
      const callback = provider.callback();
      server.handle = (request, response) => {
        const isInteraction = request.url?.startsWith("/interaction/") === true;
        if (!isInteraction) return void callback(request, response);
        if (page !== undefined && request.method === "GET")
          return void response.writeHead(200, { "content-type": "text/html" }).end(page);
        const result = { login: { accountId: real.who }, consent: {} };
        void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
      };
      return provider;
    },
  };
  return real;
}

function configuration(real: RealProvider, shop: string): Configuration {
  return {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${shop}/account/providers/acme/callback`],
        backchannel_logout_uri: `${shop}/account/providers/acme/backchannel-logout`,
        backchannel_logout_session_required: true,
        id_token_signed_response_alg: "ES256",
      },
    ],
    claims: { email: ["email", "email_verified"] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...real.people.get(id) }) }),
    async loadExistingGrant(ctx) {
      const { client, session, provider } = ctx.oidc;
      const grant = new provider.Grant({ clientId: client?.clientId ?? "", accountId: session?.accountId ?? "" });
      grant.addOIDCScope("openid email");
      await grant.save();
      return grant;
    },
    cookies: { keys: ["a key for the cookies of the tests"] },
    // The default refuses loopback addresses.
    fetch: (url, options) => fetch(url, { ...options, dispatcher: undefined } as RequestInit),
    // Without these the provider prints that it uses defaults.
    jwks: { keys: [KEY] },
    ttl: { AccessToken: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  };
}
