import { HttpException } from "../../kernel/exceptions/http-exception.ts";
import { canonicalName } from "../users/canonical-name.ts";
import { isCommonPassword } from "./is-common-password.ts";
import { readNewPassword } from "./password-attempt.ts";

/** Throws 422 for a password that is too short, too long or too common, or that is one of the names. */
export async function refuseWeakPassword(password: string, names: readonly string[]): Promise<void> {
  readNewPassword(password);
  refuseNameAsPassword(password, names);
  if (await isCommonPassword(password))
    throw new HttpException(422, "This password is too common. Choose another one.", { code: "PASSWORD_TOO_COMMON" });
}

/** Throws 422 for a password that equals one of the names or the part of an address before the @. */
function refuseNameAsPassword(password: string, names: readonly string[]): void {
  const text = canonicalName(password);
  const taken = names.flatMap((name) => [canonicalName(name), canonicalName(name.split("@")[0] ?? "")]);
  if (taken.includes(text))
    throw new HttpException(422, "The password must not match your username, email address or the application name.", {
      code: "PASSWORD_TOO_COMMON",
    });
}
