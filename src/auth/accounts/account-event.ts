import { loggable } from "../../core/describe-error.ts";
import type { MaybePromise } from "../../core/maybe-promise.ts";
import { unavailable } from "../../core/unavailable.ts";
import type { MiddlewareObject } from "../../http/routing/middleware.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
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
  | "second_factor_enrolled"
  | "second_factor_removed"
  | "second_factors_reset"
  | "second_factor_used"
  | "second_factor_failed"
  | "recovery_code_used"
  | "recovery_codes_created"
  | "passkey_added"
  | "passkey_removed"
  | "api_key_created"
  | "api_key_revoked"
  | "provider_linked"
  | "provider_unlinked"
  | "provider_sign_in_failed"
  | "provider_logged_out"
  | "impersonation_started"
  | "impersonation_refused"
  | "impersonation_ended"
  | "new_device"
  | "breach_check_failed";

/** One entry for an audit log. It is frozen and contains no credentials. */
export interface AccountEvent {
  readonly kind: AccountEventKind;
  readonly at: Date;
  readonly outcome: "success" | "failure";
  /** The identity of the account's user, or `null` if it is unknown. */
  readonly user: string | null;
  /**
   * The identity of the caller, or `null` if the route does not require one. For an administrator who acts as the user, it
   * is the administrator's, and for a command of `portico` it is `"operator"`.
   */
  readonly actor: string | null;
  readonly address: string;
  readonly device: string;
}

/**
 * Called for every account event. An error it throws is logged, and affects the response only with `accountLog: "required"`. If
 * it has `check`, `/readyz` calls that as the check `accountLog`.
 */
export interface AccountEventHook {
  (event: AccountEvent): MaybePromise<void>;
  /** Rejects while events cannot be kept. */
  readonly check?: () => MaybePromise<unknown>;
}

const FAILURES: readonly AccountEventKind[] = [
  "registration_repeated",
  "login_failed",
  "token_reused",
  "second_factor_failed",
  "provider_sign_in_failed",
  "impersonation_refused",
  "breach_check_failed",
];

/** The key of a request's hook calls, which its response waits for. */
const AWAITED = Symbol("awaited account events");

/** How long the account log counts as writable after a check. */
const CHECKED_MS = 1_000;

/**
 * The middleware of the account routes that names the state of the account log in readiness. If the log is required, responses
 * wait until it has the events of their request. If it does not get one of them, the response is 503, without the credential
 * that a sign-in would return.
 */
export function accountLogMiddleware(hook: AccountEventHook | undefined, isRequired: boolean): MiddlewareObject {
  const check = hook?.check;
  let checkedAt = Number.NEGATIVE_INFINITY;
  const checkFirst = async (ctx: HttpContext): Promise<void> => {
    const now = ctx.services.clock.monotonic();
    if (check === undefined || ctx.request.method === "GET" || now - checkedAt < CHECKED_MS) return;
    await refused((async () => check())());
    checkedAt = now;
  };
  const checks = check === undefined ? {} : { checks: { accountLog: { run: check, isRequired: false } } };
  if (!isRequired) return { ...checks, handle: (_ctx, next) => next() };
  return {
    ...checks,
    async handle(ctx, next) {
      if (ctx.kind !== "http") return next();
      const calls: Promise<void>[] = [];
      ctx.state.set(AWAITED, calls);
      await checkFirst(ctx);
      try {
        await next();
      } finally {
        await refused(Promise.all(calls));
      }
    },
  };
}

/** Rejects with 503 if the log does. */
async function refused(work: Promise<unknown>): Promise<void> {
  await work.catch((cause: unknown) => {
    throw unavailable("The account log could not be written", cause);
  });
}

/** Logs the event and calls the hook without waiting for it, unless the log is required. Shutdown waits. */
export function report(
  ctx: HttpContext,
  hook: AccountEventHook | undefined,
  kind: AccountEventKind,
  user: string | null,
  actor: string | null = callerOf(ctx),
): void {
  const { services, log, request } = ctx;
  const event: AccountEvent = Object.freeze({
    kind,
    outcome: FAILURES.includes(kind) ? "failure" : "success",
    user,
    actor,
    at: new Date(services.clock.now()),
    address: request.ip,
    device: deviceLabel(request.headers["user-agent"]),
  });
  log.info({ account: event }, `account: ${kind}`);
  if (hook === undefined) return;
  const called = Promise.resolve(event).then(hook);
  (ctx.state.get(AWAITED) as Promise<void>[] | undefined)?.push(called);
  services.laterWork.add(
    called.catch((err: unknown) =>
      services.log.error({ err: loggable(err), kind }, "the onEvent hook failed for an account event"),
    ),
  );
}

function callerOf(ctx: HttpContext): string | null {
  // Reading the caller adds `Vary` to the response, which would reveal that there was an event.
  if (!ctx.isIdentityRead) return null;
  const { user, impersonator } = ctx;
  return impersonator ?? (user.isAuthenticated ? user.identity : null);
}
