import { currentContext } from "../../kernel/context/current-context.ts";

/**
 * Returns whether the credential of this request is still valid. The body may arrive long after the gate was passed,
 * and a credential that was revoked in the meantime must not create another one.
 */
export async function isSignedInStill(): Promise<boolean> {
  return (await currentContext()?.identity.recheck?.()) !== false;
}
