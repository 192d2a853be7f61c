import createClient from "openapi-fetch";
import type { Connect } from "./account-client.ts";
import type { paths } from "./generated/openapi-typescript.d.ts";

/** Types by openapi-typescript, requests by openapi-fetch. */
export const connect: Connect = (baseUrl, fetch) => {
  const client = createClient<paths>({ baseUrl, fetch });
  return {
    register: (body) => client.POST("/account/register", { body }),
    verifyEmail: (token, password) => client.POST("/account/verify", { body: { token, password } }),
    login: (body) => client.POST("/account/login", { body }),
    me: (headers = {}) => client.GET("/account/me", { headers }),
    changePassword: (current_password, new_password, headers = {}) =>
      client.POST("/account/password", { body: { current_password, new_password }, headers }),
    createToken: (body) => client.POST("/account/token", { body }),
    refreshToken: (refresh_token) => client.POST("/account/refresh", { body: { refresh_token } }),
    createKey: (body) => client.POST("/account/keys", { body }),
    listKeys: () => client.GET("/account/keys"),
    revokeKey: (id) => client.DELETE("/account/keys/{id}", { params: { path: { id } } }),
    listSessions: () => client.GET("/account/sessions"),
    revokeSession: (id) => client.DELETE("/account/sessions/{id}", { params: { path: { id } } }),
    enrolTotp: () => client.POST("/account/factors/totp", { body: {} }),
    confirmTotp: (code) => client.POST("/account/factors/totp/confirm", { body: { code } }),
    listFactors: () => client.GET("/account/factors"),
    secondFactor: (body) => client.POST("/account/second-factor", { body }),
    removeTotp: () => client.DELETE("/account/factors/totp"),
    passkeyOptions: () => client.POST("/account/passkeys/options", { body: {} }),
    passkeySignInOptions: () => client.POST("/account/passkeys/sign-in/options"),
    logout: () => client.POST("/account/logout"),
    requestPasswordReset: (email) => client.POST("/account/password/reset", { body: { email } }),
    resetPassword: (token, password) => client.POST("/account/password/reset/confirm", { body: { token, password } }),
  };
};
