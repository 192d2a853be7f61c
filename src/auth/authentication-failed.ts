import { HttpException } from "../http/context/http-exception.ts";

/** 401: nobody is signed in, or not by a way that counts here. `WWW-Authenticate` says which ways there are. */
export class AuthenticationFailed extends HttpException {
  override readonly name: string = "AuthenticationFailed";
  /** The value of `WWW-Authenticate`. */
  readonly challenge: string;

  constructor(message = "Sign in first", challenge = "Bearer", code?: string) {
    super(401, message, { headers: { "www-authenticate": challenge }, ...(code === undefined ? {} : { code }) });
    this.challenge = challenge;
  }
}
