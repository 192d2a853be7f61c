import type { PorticoRequest } from "portico";
import { AuthenticationBackend, AuthenticationMiddleware, AuthResult, SimpleUser } from "portico/auth";

/** A kind of caller, and the facts about it that the model knows. */
export interface Identity {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly state: "anonymous" | "signed in" | "unknown";
  readonly scope: "jwt" | "apikey" | null;
  readonly canRead: boolean;
  readonly isFresh: boolean;
  /** Whether the user signed in with two factors. */
  readonly isStrong: boolean;
  /** The status with which GraphQL sockets reject this credential at the upgrade, whatever the gate. */
  readonly socketStatus: number | null;
}

const stranger = {
  state: "anonymous",
  scope: null,
  canRead: false,
  isFresh: false,
  isStrong: false,
  socketStatus: null,
} as const;
const user = {
  state: "signed in",
  scope: "jwt",
  canRead: true,
  isFresh: true,
  isStrong: false,
  socketStatus: null,
} as const;

export const identities: readonly Identity[] = [
  { ...stranger, name: "anonymous", headers: {} },
  { ...user, name: "without the permission", headers: { "x-jwt": "fresh plain" }, canRead: false },
  { ...user, name: "with the permission", headers: { "x-jwt": "fresh reader" } },
  { ...user, name: "with two factors", headers: { "x-jwt": "strong reader" }, isStrong: true },
  { ...user, name: "signed in long ago", headers: { "x-jwt": "stale reader" }, isFresh: false },
  { ...user, name: "by API key", headers: { "x-apikey": "key reader" }, scope: "apikey", isFresh: false },
  { ...stranger, name: "with an invalid credential", headers: { "x-jwt": "invalid" }, socketStatus: 401 },
  { ...stranger, name: "unknown", headers: { "x-jwt": "down" }, state: "unknown", socketStatus: 503 },
];

const HOURS = 3_600_000;

/** Reads the kind of credential and the name of its user from a header. */
class HeaderBackend extends AuthenticationBackend {
  readonly scope: "jwt" | "apikey";

  constructor(scope: "jwt" | "apikey") {
    super();
    this.scope = scope;
  }

  override carries({ headers }: PorticoRequest): boolean {
    return headers[`x-${this.scope}`] !== undefined;
  }

  async authenticate({ headers }: PorticoRequest): Promise<AuthResult> {
    const [kind, name] = headers[`x-${this.scope}`]?.split(" ") ?? [];
    if (kind === "down") throw new Error("the store is down");
    if (name === undefined) return AuthResult.decline();
    if (kind === "key") return AuthResult.accept(name, this.scope);
    return AuthResult.accept(name, this.scope, {
      signedInAt: Date.now() - (kind === "stale" ? 2 * HOURS : 0),
      ...(kind === "strong" ? { level: "mfa" } : {}),
    });
  }
}

export function authenticating(): AuthenticationMiddleware {
  const loadUser = async (name: string): Promise<SimpleUser> => new SimpleUser(name, name === "reader" ? ["read"] : []);
  return new AuthenticationMiddleware({
    userModel: { loadUser },
    backend: [new HeaderBackend("jwt"), new HeaderBackend("apikey")],
  });
}
