import { AuthenticationFailed } from "../../kernel/exceptions/authentication-failed.ts";

/**
 * 401 for a failed sign-in, identical for every reason. It does not even reveal that a correct password belongs to an
 * unverified address: someone who registered with another person's address could learn from that whether the person has
 * an account.
 */
export class InvalidCredentials extends AuthenticationFailed {
  override readonly name: string = "InvalidCredentials";

  constructor(isVerificationRequired = false) {
    const sentence = isVerificationRequired
      ? "Incorrect username or password, or the email address is not verified yet"
      : "Incorrect username or password";
    super(sentence, undefined, "INVALID_CREDENTIALS");
  }
}
