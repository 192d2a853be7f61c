import type { MaybePromise } from "../../core/maybe-promise.ts";
import type { HttpContext } from "../../http/context/http-context.ts";
import { deviceLabel } from "../sessions/device-label.ts";

/** What happened to an account. */
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

/** One entry for an audit log. There is no credential in it, and nothing of it can be changed. */
export interface AccountEvent {
  readonly kind: AccountEventKind;
  readonly at: Date;
  /** Whose account it is; `null` when there is none by that name. */
  readonly user: string | null;
  readonly address: string;
  readonly device: string;
}

/** Told of everything that happens to accounts. What it throws is logged, and changes no answer. */
export type AccountEventHook = (event: AccountEvent) => MaybePromise<void>;

/** Writes a line of the log and tells the hook, without waiting for it. */
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
    .catch((err: unknown) => services.log.error({ err, kind }, "an account event could not be recorded"));
}
