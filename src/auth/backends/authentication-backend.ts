import type { OpenAPISecurityScheme } from "../../http/routing/open-api-security-scheme.ts";
import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import type { AuthScope } from "../../kernel/identity/identity.ts";
import type { AuthResult } from "../callers/auth-result.ts";

/**
 * One sign-in method: it looks for its credential in a request and returns the identity. The identity must come from a
 * verified credential, never from an unverified claim of the client.
 *
 * Register a custom scope once, so that gates can name it.
 *
 * @example
 * ```ts
 * import type { PorticoRequest } from "portico";
 * import { AuthenticationBackend, AuthResult } from "portico/auth";
 *
 * declare module "portico" {
 *   interface Scopes {
 *     partner: true;
 *   }
 * }
 * declare function partnerOf(signature: string): Promise<string | null>;
 *
 * export class PartnerBackend extends AuthenticationBackend {
 *   readonly scope = "partner";
 *
 *   override carries(request: PorticoRequest): boolean {
 *     return request.headers["x-signature"] !== undefined;
 *   }
 *
 *   override get headers(): readonly string[] {
 *     return ["X-Signature"];
 *   }
 *
 *   async authenticate(request: PorticoRequest): Promise<AuthResult> {
 *     const signature = request.headers["x-signature"];
 *     const partner = signature === undefined ? null : await partnerOf(signature);
 *     return partner === null ? AuthResult.decline() : AuthResult.accept(partner, this.scope);
 *   }
 * }
 * ```
 */
export abstract class AuthenticationBackend {
  /** The name of the sign-in method, which gates refer to. */
  abstract readonly scope: AuthScope;

  /**
   * Accepts, or declines so that the next backend is tried. Throw if the credential could not be checked, for example
   * because the store is down. An `HttpException` below 500, such as 413 from reading the body, declines, and a
   * required gate throws it.
   */
  abstract authenticate(request: PorticoRequest): Promise<AuthResult>;

  /**
   * Whether the request carries a credential for this backend. If the backend threw and no other succeeded, the caller
   * is unknown (503) with a credential, and anonymous (401) without one.
   *
   * @default true
   */
  carries(_request: PorticoRequest): boolean {
    return true;
  }

  /**
   * The challenge for `WWW-Authenticate`, or `null` for a method without an HTTP authentication scheme.
   *
   * @param wasDeclined whether the request carried a credential for this backend that is not valid
   * @default null
   */
  challenge(_wasDeclined: boolean): string | null {
    return null;
  }

  /** The headers that carry its credential. `Vary` lists them in responses that depend on the caller. @default none */
  get headers(): readonly string[] {
    return [];
  }

  /**
   * The security scheme for the OpenAPI document. With `null`, a gate that accepts only this scope appears open there.
   *
   * @default the first of `headers`
   */
  get securityScheme(): OpenAPISecurityScheme | null {
    const [name] = this.headers;
    // OpenAPI requires the name of the cookie, which is unknown here.
    return name === undefined || name.toLowerCase() === "cookie" ? null : { type: "apiKey", in: "header", name };
  }

  /** @internal What it keeps in the stores of the application, such as "API keys". */
  get "~stores"(): string | undefined {
    return undefined;
  }

  /** Warnings about valid but probably unintended options, logged at startup. @default none */
  get warnings(): readonly string[] {
    return [];
  }
}
