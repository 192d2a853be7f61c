import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { HttpContext } from "../../http/context/http-context.ts";
import { deviceLabel } from "../sessions/device-label.ts";

/** The kind of an account event. */
export type AccountEventKind =
  | "registered"
  | "registration_repeated"
  | "login_succeeded"
  | "login_failed"
  | "logged_out"
  | "logged_out_everywhere"
  | "token_refreshed"
  | "token_reused"
  | "session_revoked"
  | "password_changed"
  | "password_reset_requested"
  | "password_reset"
  | "email_verified"
  | "email_change_requested"
  | "email_changed"
  | "api_key_created"
  | "api_key_revoked"
  | "breach_check_failed";

/** One entry for an audit log. It is frozen and contains no credentials. */
export interface AccountEvent {
  readonly kind: AccountEventKind;
  readonly at: Date;
  /** The identity of the account's user, or `null` if it is unknown. */
  readonly user: string | null;
  readonly address: string;
  readonly device: string;
}

/** Called for every account event. An error it throws is logged and does not affect the response. */
export type AccountEventHook = (event: AccountEvent) => MaybePromise<void>;

/** Logs the event and calls the hook without waiting for it. */
export function report(
  ctx: HttpContext,
  hook: AccountEventHook | undefined,
  kind: AccountEventKind,
  user: string | null,
): void {
  const { services, log, request } = ctx;
  const event: AccountEvent = Object.freeze({
    kind,
    user,
    at: new Date(services.clock.now()),
    address: request.ip,
    device: deviceLabel(request.headers["user-agent"]),
  });
  log.info({ account: event }, `account: ${kind}`);
  if (hook === undefined) return;
  Promise.resolve(event)
    .then(hook)
    .catch((err: unknown) => services.log.error({ err, kind }, "the onEvent hook failed for an account event"));
}
