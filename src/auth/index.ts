export { AnonymousUser, type AuthScope, type UserProtocol } from "../http/identity.ts";
export { AuthenticationMiddleware, type AuthenticationMiddlewareOptions } from "./authentication-middleware.ts";
export { AuthResult } from "./backends/auth-result.ts";
export { AuthenticationBackend } from "./backends/authentication-backend.ts";
export { AuthenticationFailed, PermissionDenied } from "./exceptions.ts";
export { type UseAuthOptions, useAuth } from "./use-auth.ts";
export { SimpleUser } from "./users/simple-user.ts";
export { UserBaseModel } from "./users/user-base-model.ts";
export type { UserModel } from "./users/user-model.ts";
