import { HttpException } from "./http-exception.ts";

/**
 * 401: the caller is anonymous, or the sign-in method is not accepted here. `WWW-Authenticate` lists the accepted
 * schemes.
 */
export class AuthenticationFailed extends HttpException {
  override readonly name: string = "AuthenticationFailed";
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string;

  constructor(message = "Authentication required", challenge = "Bearer", code?: string) {
    super(401, message, { headers: { "www-authenticate": challenge }, ...(code === undefined ? {} : { code }) });
    this.challenge = challenge;
  }
}
