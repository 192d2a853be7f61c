import { jwtVerify } from "jose";
import type { ServerMetadata } from "openid-client";
import { isInstance } from "../../core/describe-error.ts";
import { HttpException, ServiceUnavailable } from "../../kernel/exceptions/http-exception.ts";
import { remoteKeySet, type VerifyingKeys } from "../tokens/verifying-keys.ts";
import type { LogoutNotice, ProviderServices } from "./identity-provider.ts";
import { reachProvider } from "./reach-provider.ts";

const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** The oldest logout token that is accepted. */
export const LOGOUT_TOKEN_SECONDS = 600;
/** How far the clocks of the provider and of this server may differ. */
const SKEW_SECONDS = 30;

/** Verifies the logout tokens of one provider (OpenID Connect Back-Channel Logout 1.0, section 2.6). */
export class LogoutTokens {
  readonly #clientId: string;
  #keys: { readonly url: string; readonly set: VerifyingKeys } | undefined;

  constructor(clientId: string) {
    this.#clientId = clientId;
  }

  /** Throws 400 for a token that is not valid, and 503 if that cannot be determined, so that the provider tries again. */
  async read(services: ProviderServices, server: ServerMetadata, token: string): Promise<LogoutNotice> {
    const { issuer, jwks_uri = "" } = server;
    try {
      const keys = this.#keysAt(jwks_uri, services);
      const { payload } = await jwtVerify(
        token,
        async ({ alg, kid }) => {
          const [key] = await reachProvider(services, issuer, async () => keys.find({ alg, kid }), true);
          if (key === undefined) throw new Error("no key of the provider matches");
          return key;
        },
        {
          issuer,
          audience: this.#clientId,
          maxTokenAge: LOGOUT_TOKEN_SECONDS,
          clockTolerance: SKEW_SECONDS,
          currentDate: new Date(services.clock.now()),
        },
      );
      const { jti, sub, sid, nonce, events } = payload;
      const event = (events as Readonly<Record<string, unknown>> | undefined)?.[LOGOUT_EVENT];
      if (typeof event !== "object" || event === null) throw new Error("the token is not a logout token");
      // An id_token has a nonce. It must not be accepted as a logout token.
      if (nonce !== undefined) throw new Error("a logout token must not have a nonce");
      if (typeof jti !== "string" || jti === "") throw new Error("the token has no jti");
      const notice = { issuer, jti, subject: textOf(sub), sid: textOf(sid) };
      if (notice.subject === undefined && notice.sid === undefined) throw new Error("the token has no sub and no sid");
      return notice;
    } catch (error) {
      // An outage of the keys says nothing about the token.
      if (isInstance(error, ServiceUnavailable)) throw error;
      services.log.warn({ reason: (error as Error).message }, "a logout token was rejected");
      throw new LogoutTokenInvalid();
    }
  }

  #keysAt(url: string, { clock }: ProviderServices): VerifyingKeys {
    if (this.#keys?.url !== url) this.#keys = { url, set: remoteKeySet("oidc.issuer", new URL(url), clock) };
    return this.#keys.set;
  }
}

/** 400: a logout token is missing, not valid or was already used. */
export class LogoutTokenInvalid extends HttpException {
  override readonly name: string = "LogoutTokenInvalid";

  constructor() {
    super(400, "The logout token is not valid", { code: "LOGOUT_TOKEN_INVALID" });
  }
}

function textOf(claim: unknown): string | undefined {
  return typeof claim === "string" && claim !== "" ? claim : undefined;
}
