/** A `fetch` as both clients call it. */
export type Fetch = (request: Request) => Promise<Response>;

/** Headers that a call adds, such as a bearer token. */
export type Sent = Readonly<Record<string, string>>;

/** A result as both clients return it: `data` or `error`, and the response itself. */
export interface Result<Data> {
  readonly data?: Data | undefined;
  readonly error?:
    | { readonly code: string; readonly detail: string; readonly status: number; readonly [member: string]: unknown }
    | undefined;
  readonly response?: Response | undefined;
}

export interface User {
  readonly id: string;
  readonly email: string;
  readonly username: string;
  readonly email_verified: boolean;
}

export interface Tokens {
  readonly access_token: string;
  readonly expires_in: number;
  readonly refresh_token?: string;
}

/** The options of WebAuthn, as far as the test reads them. */
export interface Passkey {
  readonly options: { readonly challenge: string };
}

export interface NewPasskey extends Passkey {
  readonly options: Passkey["options"] & {
    readonly user: { readonly name: string };
    readonly pubKeyCredParams: readonly { readonly alg: number; readonly type: "public-key" }[];
    readonly authenticatorSelection?: { readonly userVerification?: "required" | "preferred" | "discouraged" };
  };
}

export interface Session {
  readonly id: string;
  readonly current: boolean;
  readonly last_seen_at: string;
}

export interface Key {
  readonly id: string;
  readonly name: string;
  readonly permissions: readonly string[] | null;
  readonly expires_at: string | null;
}

/**
 * What an application expects of a client that was generated from the document. Each of the two adapters compiles only if the
 * generated types say the same.
 */
export interface AccountClient {
  register(body: { email: string; username: string; password: string }): Promise<Result<{ readonly detail: string }>>;
  verifyEmail(token: string, password: string): Promise<Result<unknown>>;
  login(body: { identifier: string; password: string; remember?: boolean }): Promise<Result<User>>;
  me(headers?: Sent): Promise<Result<User>>;
  changePassword(current: string, next: string, headers?: Sent): Promise<Result<Tokens | undefined>>;
  createToken(body: { identifier: string; password: string }): Promise<Result<Tokens>>;
  refreshToken(token: string): Promise<Result<Tokens>>;
  createKey(body: { name: string; permissions?: string[] }): Promise<Result<Key & { readonly key: string }>>;
  listKeys(): Promise<Result<readonly Key[]>>;
  revokeKey(id: string): Promise<Result<unknown>>;
  listSessions(): Promise<Result<readonly Session[]>>;
  revokeSession(id: string): Promise<Result<unknown>>;
  enrolTotp(): Promise<Result<{ readonly secret: string; readonly uri: string; readonly qr: string }>>;
  confirmTotp(code: string): Promise<Result<{ readonly recovery_codes: readonly string[] }>>;
  listFactors(): Promise<Result<{ readonly totp_created_at: string | null; readonly recovery_codes: number }>>;
  secondFactor(body: { pending?: string; code: string }): Promise<Result<User | Tokens>>;
  removeTotp(): Promise<Result<unknown>>;
  passkeyOptions(): Promise<Result<NewPasskey>>;
  passkeySignInOptions(): Promise<Result<Passkey>>;
  logout(): Promise<Result<unknown>>;
  requestPasswordReset(email: string): Promise<Result<{ readonly detail: string }>>;
  resetPassword(token: string, password: string): Promise<Result<unknown>>;
}

/** Makes a client that sends its requests with this `fetch`. */
export type Connect = (baseUrl: string, fetch: Fetch) => AccountClient;
