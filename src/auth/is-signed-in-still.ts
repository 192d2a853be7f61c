import { currentContext } from "../http/context/current-context.ts";

/**
 * Whether the credential of this request is still valid. The gate was passed before the body came, and that may take its time: a
 * credential that was revoked meanwhile must not create another one.
 */
export async function isSignedInStill(): Promise<boolean> {
  return (await currentContext()?.identity.recheck?.()) !== false;
}
