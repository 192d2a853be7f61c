import type { PorticoRequest } from "../../kernel/context/portico-request.ts";
import type { ResolvedAccountOptions } from "../accounts/account-options.ts";
import { JWTAuthBackend } from "../backends/jwt-auth-backend.ts";
import type { JWTAuthOptions } from "../backends/jwt-auth-options.ts";
import { AuthResult } from "../callers/auth-result.ts";
import { RequestSessions, sessionNamedBy } from "../sessions/request-sessions.ts";

/** Accepts access tokens of the account routes. A token is valid only while its session is. */
export class DeviceTokenBackend extends JWTAuthBackend {
  /** The options of the accounts, for tools that work on them. */
  readonly account: ResolvedAccountOptions;

  constructor(options: JWTAuthOptions, account: ResolvedAccountOptions) {
    super(options);
    this.account = account;
  }

  /** Rejects when the session store fails. */
  override async authenticate(request: PorticoRequest): Promise<AuthResult> {
    const result = await super.authenticate(request);
    if (!result.success) return result;
    const handle = sessionNamedBy(result.credential);
    // A token without a session was issued elsewhere with the same secret.
    if (handle === null || !(request.sessions instanceof RequestSessions)) return result;
    const session = await request.sessions.find(result.identity, handle);
    if (session === null) return AuthResult.decline("the session of the token has ended");
    const { issuedAt, level } = session.record;
    const credential = { ...result.credential, signedInAt: issuedAt, ...(level === undefined ? {} : { level }) };
    return { ...result, credential };
  }
}
