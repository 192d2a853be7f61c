export type { Secret } from "../core/key-ring.ts";
export { type UseAuthOptions, useAuth } from "../kernel/access/use-auth.ts";
export { AuthenticationFailed } from "../kernel/exceptions/authentication-failed.ts";
export { PermissionDenied } from "../kernel/exceptions/permission-denied.ts";
export type { UserProtocol } from "../kernel/identity/identity.ts";
export type { AccountEvent, AccountEventHook, AccountEventKind } from "./accounts/account-event.ts";
export type { AccountOptions, AccountRoute, BreachCheck } from "./accounts/account-options.ts";
export type { ImpersonationOptions } from "./accounts/impersonation.ts";
export { consoleMailer, type Mail, type MailContent, type Mailer } from "./accounts/mailer.ts";
export type { HumanCheck } from "./accounts/require-human.ts";
export { accountRoutes } from "./accounts/routes/account-routes.ts";
export type { APIKey, CreatedAPIKey } from "./api-keys/api-key.ts";
export { APIKeys } from "./api-keys/api-keys.ts";
export type { APIKeysOptions, NewAPIKey, RenewAPIKey } from "./api-keys/api-keys-options.ts";
export { APIKeyAuthBackend, type APIKeyAuthOptions } from "./backends/api-key-auth-backend.ts";
export { AuthenticationBackend } from "./backends/authentication-backend.ts";
export {
  AuthenticationMiddleware,
  type AuthenticationMiddlewareOptions,
} from "./backends/authentication-middleware.ts";
export { JWTAuthBackend } from "./backends/jwt-auth-backend.ts";
export type { JWTAuthOptions } from "./backends/jwt-auth-options.ts";
export { SessionAuthBackend } from "./backends/session-auth-backend.ts";
export type { TokenClaims } from "./backends/token-claims.ts";
export { AuthResult } from "./callers/auth-result.ts";
export type { PasskeyOptions } from "./factors/passkey-options.ts";
export { limitLogin } from "./limits/limit-login.ts";
export {
  type LegacyPasswordScheme,
  type PasswordCheck,
  PasswordHasher,
  type PasswordOptions,
} from "./passwords/password-hasher.ts";
export { type AuthenticationOptions, authentication } from "./preset/authentication.ts";
export { type GitHubOptions, github } from "./providers/github.ts";
export { google } from "./providers/google.ts";
export type { IdentityProvider } from "./providers/identity-provider.ts";
export { type OIDCOptions, oidc } from "./providers/oidc.ts";
export type { ProviderOptions } from "./providers/provider-options.ts";
export { SessionMiddleware, type SessionMiddlewareOptions } from "./sessions/session-middleware.ts";
export { type JWKSRoutesOptions, jwksRoutes, publicKeySet } from "./tokens/jwks-routes.ts";
export type { JWTAlgorithm } from "./tokens/jwt-algorithm.ts";
export type { RefreshOwner } from "./tokens/refresh-families.ts";
export {
  type RefreshOptions,
  revokeRefreshToken,
  revokeRefreshTokensOf,
  rotateRefreshToken,
} from "./tokens/rotate-refresh-token.ts";
export type { SigningKey } from "./tokens/signing-key.ts";
export { TokenForUser, type TokenPair } from "./tokens/token-for-user.ts";
export type { TokenOptions } from "./tokens/token-options.ts";
export type { JSONWebKeySet } from "./tokens/verifying-keys.ts";
export type { AccountModel, AccountUser, CreateUserInput, UserKey, UserManager } from "./users/account-model.ts";
export { canonicalName } from "./users/canonical-name.ts";
export { SimpleUser } from "./users/simple-user.ts";
export { UserBaseModel } from "./users/user-base-model.ts";
export { UserExists } from "./users/user-exists.ts";
export type { UserModel } from "./users/user-model.ts";
