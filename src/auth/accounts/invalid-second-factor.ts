import { AuthenticationFailed } from "../../kernel/exceptions/authentication-failed.ts";

/** 401: the code is wrong, was used before, or the user has no second factor. */
export class InvalidSecondFactor extends AuthenticationFailed {
  override readonly name: string = "InvalidSecondFactor";

  constructor() {
    super("The code is incorrect or was already used", undefined, "INVALID_SECOND_FACTOR");
  }
}

/** 401: the passkey is unknown, its response is not valid, or it was made for another challenge. */
export class InvalidPasskey extends AuthenticationFailed {
  override readonly name: string = "InvalidPasskey";

  constructor() {
    super("The passkey could not be verified", undefined, "INVALID_PASSKEY");
  }
}

/** 401: the sign-in that waits for a second factor has expired, was completed, or the password has changed since. */
export class SignInExpired extends AuthenticationFailed {
  override readonly name: string = "SignInExpired";

  constructor() {
    super("The sign-in has expired. Sign in again.", undefined, "SIGN_IN_EXPIRED");
  }
}
