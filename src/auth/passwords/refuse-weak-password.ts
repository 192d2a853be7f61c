import { HttpException } from "../../http/exceptions/http-exception.ts";
import { isCommonPassword } from "./is-common-password.ts";
import { readNewPassword } from "./password-attempt.ts";
import { refuseNameAsPassword } from "./refuse-name-as-password.ts";

/** Throws 422 for a password that is too short, too long or too common, or that is one of the names. */
export async function refuseWeakPassword(password: string, names: readonly string[]): Promise<void> {
  readNewPassword(password);
  refuseNameAsPassword(password, names);
  if (await isCommonPassword(password))
    throw new HttpException(422, "This password is too common. Choose another one.", { code: "PASSWORD_TOO_COMMON" });
}
