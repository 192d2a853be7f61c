import type { PorticoRequest } from "../../http/context/portico-request.ts";
import { AuthResult } from "../backends/auth-result.ts";
import { JWTAuthBackend } from "../backends/jwt-auth-backend.ts";
import { RequestSessions, sessionNamedBy } from "../sessions/request-sessions.ts";

/** Takes tokens of the account routes: each belongs to a session, and counts as long as that lives. */
export class DeviceTokenBackend extends JWTAuthBackend {
  /** Rejects when the store of the sessions does. */
  override async authenticate(request: PorticoRequest): Promise<AuthResult> {
    const result = await super.authenticate(request);
    if (!result.success) return result;
    const handle = sessionNamedBy(result.credential);
    // One that names none was made elsewhere with our secret.
    if (handle === null || !(request.sessions instanceof RequestSessions)) return result;
    const session = await request.sessions.find(result.identity, handle);
    if (session === null) return AuthResult.decline("the session of the token is over");
    return { ...result, credential: { ...result.credential, signedInAt: session.record.issuedAt } };
  }
}
