import { HttpException } from "../../http/exceptions/http-exception.ts";
import { canonicalName } from "../users/canonical-name.ts";

/** Throws 422 for a password that equals one of the names or the part of an address before the @. */
export function refuseNameAsPassword(password: string, names: readonly string[]): void {
  const text = canonicalName(password);
  const taken = names.flatMap((name) => [canonicalName(name), canonicalName(name.split("@")[0] ?? "")]);
  if (taken.includes(text))
    throw new HttpException(422, "The password must not match your username, email address or the application name.", {
      code: "PASSWORD_TOO_COMMON",
    });
}
