import { AuthenticationFailed } from "../authentication-failed.ts";

/**
 * 401 at a login: the same for every reason. A right password does not even show that its address is not verified: somebody who
 * has registered with the address of another person would learn from it whether that person has an account.
 */
export class InvalidCredentials extends AuthenticationFailed {
  override readonly name: string = "InvalidCredentials";

  constructor(isVerificationRequired = false) {
    const sentence = isVerificationRequired
      ? "Name or password is incorrect, or the email address is not verified yet"
      : "Name or password is incorrect";
    super(sentence, undefined, "INVALID_CREDENTIALS");
  }
}
