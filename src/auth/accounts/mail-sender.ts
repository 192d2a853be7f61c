import { brandOf } from "../../http/html/brand.ts";
import type { HttpContext } from "../../kernel/context/http-context.ts";
import { addressBucket } from "../../kernel/exchange/address-bucket.ts";
import type { Reservation } from "../../stores/counter-store.ts";
import { type CountedAttempt, refundAttempt, reserveAttempt } from "../limits/attempt-limit.ts";
import type { IdentityProvider } from "../providers/identity-provider.ts";
import type { DeviceLabel } from "../sessions/device-label.ts";
import type { AccountUser } from "../users/account-model.ts";
import type { AccountName } from "../users/account-name.ts";
import { canonicalName } from "../users/canonical-name.ts";
import { mailContent } from "./mail-content.ts";
import type { Mail, Mailer } from "./mailer.ts";

/**
 * The content of a mail: values of the account, and words that Portico knows. It has no member for text of a request, so that
 * a stranger can't write to the recipient.
 */
export interface Letter {
  readonly kind: Mail["kind"];
  /** A stored user, or an address that `readEmail` has accepted. */
  readonly to: AccountUser | AccountName;
  readonly device?: DeviceLabel;
  /** A provider of the application. */
  readonly provider?: IdentityProvider;
  /** Issues the link. It is called only if the mail is sent. */
  readonly issue?: () => Promise<IssuedLink>;
  /** Runs in place of the mail, if the recipient has got too many. */
  readonly otherwise?: () => Promise<void>;
}

/** A link that was issued for a mail. */
export interface IssuedLink {
  /** The option of the application with the page that the link opens. */
  readonly page: string;
  readonly token: string;
  readonly code?: string;
}

/** The limits of a kind of mail. */
interface MailLimits {
  /** The kinds with one name share the limit of a recipient. */
  readonly budget: string;
  /** How long the link is valid, of a mail without which the owner cannot sign in. */
  readonly validSeconds?: number;
}

const NOTICE: MailLimits = { budget: "notices" };

/** Every kind of mail, with its limits. */
const LIMITS: Readonly<Record<Mail["kind"], MailLimits>> = {
  reset: { budget: "reset-mails", validSeconds: 1_800 },
  verify: { budget: "verify-mails", validSeconds: 1_800 },
  change_email: { budget: "email-recipient" },
  sign_in: { budget: "sign-in-mails", validSeconds: 600 },
  already_registered: { budget: "register-mails" },
  password_changed: NOTICE,
  email_changed: NOTICE,
  new_device: NOTICE,
  second_factor_enrolled: NOTICE,
  second_factor_removed: NOTICE,
  second_factors_reset: NOTICE,
  passkey_added: NOTICE,
  passkey_removed: NOTICE,
  recovery_code_used: NOTICE,
  recovery_codes_created: NOTICE,
  provider_linked: NOTICE,
  provider_unlinked: NOTICE,
};

const HOUR_SECONDS = 3_600;

/**
 * Sends every mail about an account, within limits per recipient and per caller.
 *
 * An address gets three mails of a kind in an hour. Beyond that, it gets one more to sign in, to reset the password or to verify
 * the address whenever the newest link can have expired: strangers who ask for mails can't flood a mailbox, and can't keep its
 * owner from a link that works. The owner of a verified
 * address gets 60 notices in an hour, because strangers can't cause them.
 */
export class MailSender {
  readonly #mailer: Mailer;
  readonly #urlOf: (ctx: HttpContext, page: string) => string;

  /** @param urlOf builds the URL of a page from the app's own URL */
  constructor({ mailer }: { readonly mailer: Mailer }, urlOf: (ctx: HttpContext, page: string) => string) {
    this.#mailer = mailer;
    this.#urlOf = urlOf;
  }

  async send(ctx: HttpContext, letter: Letter): Promise<void> {
    const reservations = await reserve(ctx, letter);
    if (reservations === null) return letter.otherwise?.();
    let mail: Mail;
    try {
      mail = await this.#write(ctx, letter);
    } catch (error) {
      for (const reservation of reservations) refundAttempt(ctx, reservation);
      throw error;
    }
    await this.#mailer(mail, mailContent(mail, brandOf.of(ctx.services)));
  }

  async #write(ctx: HttpContext, { kind, to, device, provider, issue }: Letter): Promise<Mail> {
    const link = await issue?.();
    return {
      to: addressOf(to),
      kind,
      url: link === undefined ? null : `${this.#urlOf(ctx, link.page)}?token=${link.token}`,
      ...(link?.code === undefined ? {} : { code: link.code }),
      ...(device === undefined ? {} : { device }),
      ...(provider === undefined ? {} : { provider: provider.name }),
    };
  }
}

/** Counts the mail. Returns `null` if the recipient or the caller has had too many. */
async function reserve(ctx: HttpContext, { kind, to }: Letter): Promise<readonly Reservation[] | null> {
  const { budget, validSeconds } = LIMITS[kind];
  const whose = canonicalName(addressOf(to));
  if (LIMITS[kind] === NOTICE && "isVerified" in to && to.isVerified)
    return granted(
      await reserveAttempt(ctx, { name: "verified-notices", whose, limit: 60, windowSeconds: HOUR_SECONDS }),
    );
  const caller = granted(await reserveAttempt(ctx, callerLimit(ctx)));
  if (caller === null) return null;
  const few = await reserveAttempt(ctx, { name: budget, whose, limit: 3, windowSeconds: HOUR_SECONDS });
  const first =
    validSeconds === undefined
      ? null
      : await reserveAttempt(ctx, { name: `${budget}-valid`, whose, limit: 1, windowSeconds: validSeconds });
  const found = [few, first].filter((reservation) => reservation?.isGranted === true) as Reservation[];
  return found.length === 0 ? null : [...caller, ...found];
}

function granted(reservation: Reservation): readonly Reservation[] | null {
  return reservation.isGranted ? [reservation] : null;
}

/** Identifies the caller, and the response is still not marked as dependent on the caller. */
function callerLimit(ctx: HttpContext): CountedAttempt {
  const user = ctx.isIdentityRead && ctx.user.isAuthenticated ? (ctx.impersonator ?? ctx.user.identity) : null;
  const whose = user === null ? `address ${addressBucket(ctx.request.ip)}` : `user ${user}`;
  return { name: "mail-caller", whose, limit: 60, windowSeconds: HOUR_SECONDS };
}

function addressOf(to: AccountUser | AccountName): string {
  return "email" in to ? to.email : to.text;
}
