import type { PorticoRequest } from "../../http/context/portico-request.ts";
import type { AuthScope } from "../../http/identity/identity.ts";
import type { OpenApiSecurityScheme } from "../../http/routing/open-api-security-scheme.ts";
import type { AuthResult } from "./auth-result.ts";

/**
 * One way to sign in: looks for its credential in a request and says whose it is. Identity comes from a verified credential
 * alone, never from what a client claims.
 *
 * A scope of your own is registered once, so that gates may name it.
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
  /** Names the way; gates choose by it. */
  abstract readonly scope: AuthScope;

  /**
   * Accepts, or declines so that the next backend is asked. Throws when it could not find out, its store being down; an
   * `HttpException` below 500, such as 413 from reading the body, declines, and a required gate answers it.
   */
  abstract authenticate(request: PorticoRequest): Promise<AuthResult>;

  /**
   * Whether the request holds a credential for this backend. When it threw and no other succeeded, that decides between
   * "nobody" (401) and "not known" (503).
   *
   * @default true
   */
  carries(_request: PorticoRequest): boolean {
    return true;
  }

  /**
   * What `WWW-Authenticate` says of it; `null` for a way that the header has no name for.
   *
   * @param wasDeclined whether the request carried a credential for this backend, which does not count
   * @default null
   */
  challenge(_wasDeclined: boolean): string | null {
    return null;
  }

  /** The headers that its credential comes in: `Vary` of an answer that depends on the caller names them. @default none */
  get headers(): readonly string[] {
    return [];
  }

  /**
   * How its credential is sent, for the OpenAPI document; `null` when that cannot be told: a gate that takes this scope alone
   * then looks open there.
   *
   * @default the first of `headers`
   */
  get securityScheme(): OpenApiSecurityScheme | null {
    const [name] = this.headers;
    // Of a cookie OpenAPI wants to know the name, which is not known here.
    return name === undefined || name.toLowerCase() === "cookie" ? null : { type: "apiKey", in: "header", name };
  }

  /** What is legal in its options and hardly meant: said in the log when the application starts. @default nothing */
  get warnings(): readonly string[] {
    return [];
  }
}
