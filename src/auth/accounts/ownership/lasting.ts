/** The conditions of a route before it makes or changes a credential that lasts. */
export interface LastingRule {
  /** Requires a recent sign-in or the password. */
  readonly isFresh: boolean;
  /** Requires an owner: the email address is proved. */
  readonly isOwned: boolean;
}

/** The rules by name. */
export const RULES: Readonly<Record<"creates" | "begins" | "adds" | "replaces", LastingRule>> = {
  creates: { isFresh: true, isOwned: true },
  /** The first of two requests, of which the second makes the credential. Or a request that only removes one. */
  begins: { isFresh: true, isOwned: false },
  adds: { isFresh: false, isOwned: true },
  /** The route checks the current password, which is a member of the body. */
  replaces: { isFresh: false, isOwned: false },
};

/**
 * The effect of each account route on credentials that last: keys, the email address, provider links, the password and
 * second factors. `nothing` is for routes that only sign in, read or end something, and `proves` for those that end in
 * `proveAddress`. All others pass `credentialGate` with their rule. A route cannot be declared without an entry.
 */
export const LASTING = {
  accountRegister: "nothing",
  accountLogin: "nothing",
  accountCreateToken: "nothing",
  accountRefreshToken: "nothing",
  accountLogout: "nothing",
  accountLogoutEverywhere: "nothing",
  accountMe: "nothing",
  accountListSessions: "nothing",
  accountRevokeSession: "nothing",
  accountChangePassword: "replaces",
  accountRequestPasswordReset: "nothing",
  accountResetPassword: "proves",
  accountVerifyEmail: "proves",
  accountRequestVerification: "nothing",
  accountRequestEmailChange: "begins",
  accountConfirmEmailChange: "proves",
  accountCreateKey: "creates",
  accountListKeys: "nothing",
  accountRevokeKey: "nothing",
  accountListProviders: "nothing",
  accountSignInWithProvider: "nothing",
  accountProviderCallback: "adds",
  accountLinkProvider: "begins",
  accountListProviderLinks: "nothing",
  accountUnlinkProvider: "begins",
  accountProviderLogout: "nothing",
  accountListFactors: "nothing",
  accountEnrolTotp: "begins",
  accountConfirmTotp: "adds",
  accountRemoveTotp: "begins",
  accountRenewRecoveryCodes: "creates",
  accountSecondFactor: "nothing",
  accountSecondFactorOptions: "nothing",
  accountPasskeyOptions: "begins",
  accountAddPasskey: "adds",
  accountListPasskeys: "nothing",
  accountRenamePasskey: "nothing",
  accountRemovePasskey: "begins",
  accountPasskeySignInOptions: "nothing",
  accountPasskeySignIn: "nothing",
  accountRequestSignInMail: "nothing",
  accountSignInByMail: "proves",
  accountImpersonate: "begins",
  accountEndImpersonation: "nothing",
} as const;

/** The operation id of an account route. */
export type AccountOperationId = keyof typeof LASTING;

/** The routes that pass `credentialGate`. */
export type GatedOperation = {
  [K in AccountOperationId]: (typeof LASTING)[K] extends keyof typeof RULES ? K : never;
}[AccountOperationId];
