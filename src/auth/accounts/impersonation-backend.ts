import type { PorticoRequest } from "../../http/context/portico-request.ts";
import type { UserProtocol } from "../../http/identity/identity.ts";
import type { AuthResult } from "../backends/auth-result.ts";
import { SessionAuthBackend, sessionsOf } from "../backends/session-auth-backend.ts";
import type { Acting, SessionRecord } from "../sessions/session-record.ts";
import type { AccountModel } from "../users/account-model.ts";
import type { Impersonation } from "./impersonation.ts";

/** Accepts sessions of administrators who act as another user, as long as the administrator may. */
export class ImpersonationBackend extends SessionAuthBackend {
  readonly #userModel: AccountModel;
  readonly #impersonation: Impersonation;

  constructor(userModel: AccountModel, impersonation: Impersonation) {
    super();
    this.#userModel = userModel;
    this.#impersonation = impersonation;
  }

  /** Rejects when a store fails. */
  override async authenticate(request: PorticoRequest): Promise<AuthResult> {
    return sessionsOf(request).authenticate((record, acting) => this.#isPermitted(record, acting));
  }

  /** Checked for every request, because either user may have been disabled or got other permissions since. */
  async #isPermitted(record: SessionRecord, acting: Acting): Promise<boolean> {
    const [admin, user] = await Promise.all([
      this.#userModel.loadUser(record.user),
      this.#userModel.loadUser(acting.user),
    ]);
    if (admin === null || user === null) return false;
    return isCurrent(admin, record) && isCurrent(user, acting) && this.#impersonation.permits(admin, user);
  }
}

/** Whether the user's credentials have not been renewed since, by a new password or by "sign out everywhere". */
function isCurrent({ credentialVersion }: UserProtocol, { version }: { readonly version?: number }): boolean {
  return credentialVersion === undefined || version === undefined || credentialVersion === version;
}
