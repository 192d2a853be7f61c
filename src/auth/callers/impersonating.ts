import { HttpException } from "../../kernel/exceptions/http-exception.ts";

/** 403: an administrator who acts as the user must not change the account or create credentials for it. */
export function impersonating(): HttpException {
  return new HttpException(403, "This is not possible while you act as another user. End the impersonation first.", {
    code: "IMPERSONATING",
  });
}

/** 403: the session is valid, but may no longer act as the other user. */
export function impersonationEnded(): HttpException {
  return new HttpException(403, "The impersonation has ended. Return to your own session.", {
    code: "IMPERSONATION_ENDED",
  });
}
