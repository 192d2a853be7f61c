import type { Connect } from "./account-client.ts";
import { createClient, createConfig } from "./generated/hey-api/client/index.ts";
import * as sdk from "./generated/hey-api/index.ts";

/** Everything by hey-api. */
export const connect: Connect = (baseUrl, fetch) => {
  const client = createClient(createConfig({ baseUrl, fetch: fetch as typeof globalThis.fetch }));
  return {
    register: (body) => sdk.accountRegister({ client, body }),
    verifyEmail: (token, password) => sdk.accountVerifyEmail({ client, body: { token, password } }),
    login: (body) => sdk.accountLogin({ client, body }),
    me: (headers = {}) => sdk.accountMe({ client, headers }),
    changePassword: async (current_password, new_password, headers = {}) => {
      const { data, ...result } = await sdk.accountChangePassword({
        client,
        body: { current_password, new_password },
        headers,
      });
      return { ...result, data: data ?? undefined };
    },
    createToken: (body) => sdk.accountCreateToken({ client, body }),
    refreshToken: (refresh_token) => sdk.accountRefreshToken({ client, body: { refresh_token } }),
    createKey: (body) => sdk.accountCreateKey({ client, body }),
    listKeys: () => sdk.accountListKeys({ client }),
    revokeKey: (id) => sdk.accountRevokeKey({ client, path: { id } }),
    listSessions: () => sdk.accountListSessions({ client }),
    revokeSession: (id) => sdk.accountRevokeSession({ client, path: { id } }),
    enrolTotp: () => sdk.accountEnrolTotp({ client, body: {} }),
    confirmTotp: (code) => sdk.accountConfirmTotp({ client, body: { code } }),
    listFactors: () => sdk.accountListFactors({ client }),
    secondFactor: (body) => sdk.accountSecondFactor({ client, body }),
    removeTotp: () => sdk.accountRemoveTotp({ client }),
    passkeyOptions: () => sdk.accountPasskeyOptions({ client, body: {} }),
    passkeySignInOptions: () => sdk.accountPasskeySignInOptions({ client }),
    logout: () => sdk.accountLogout({ client }),
    requestPasswordReset: (email) => sdk.accountRequestPasswordReset({ client, body: { email } }),
    resetPassword: (token, password) => sdk.accountResetPassword({ client, body: { token, password } }),
  };
};
