export type { Secret } from "../core/key-ring.ts";
export { AnonymousUser, type AuthScope, type UserProtocol } from "../http/identity.ts";
export { AuthenticationMiddleware, type AuthenticationMiddlewareOptions } from "./authentication-middleware.ts";
export { AuthResult } from "./backends/auth-result.ts";
export { AuthenticationBackend } from "./backends/authentication-backend.ts";
export { JWTAuthBackend, type JWTAuthOptions } from "./backends/jwt-auth-backend.ts";
export type { TokenClaims } from "./backends/jwt-claims.ts";
export type { JSONWebKeySet, JWTAlgorithm } from "./backends/jwt-keys.ts";
export { SessionAuthBackend } from "./backends/session-auth-backend.ts";
export { AuthenticationFailed, PermissionDenied } from "./exceptions.ts";
export { SessionMiddleware, type SessionMiddlewareOptions } from "./sessions/session-middleware.ts";
export type { RefreshOwner } from "./tokens/refresh-families.ts";
export {
  type RefreshOptions,
  revokeRefreshToken,
  revokeRefreshTokensOf,
  rotateRefreshToken,
} from "./tokens/rotate-refresh-token.ts";
export { TokenForUser, type TokenPair } from "./tokens/token-for-user.ts";
export type { TokenOptions } from "./tokens/token-options.ts";
export { type UseAuthOptions, useAuth } from "./use-auth.ts";
export { SimpleUser } from "./users/simple-user.ts";
export { UserBaseModel } from "./users/user-base-model.ts";
export type { UserModel } from "./users/user-model.ts";
