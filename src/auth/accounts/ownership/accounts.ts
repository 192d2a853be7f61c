import type { HttpContext } from "../../../kernel/context/http-context.ts";
import { APIKeys } from "../../api-keys/api-keys.ts";
import { Passkeys } from "../../factors/passkeys.ts";
import { SecondFactors } from "../../factors/second-factors.ts";
import type { IdentityProvider, ProviderAccount } from "../../providers/identity-provider.ts";
import { ProviderLinks } from "../../providers/provider-links.ts";
import { AccountBase, type AccountHolder, type AccountUsers } from "../account-base.ts";
import type { ResolvedAccountOptions } from "../account-options.ts";
import { AccountRevocation } from "../account-revocation.ts";
import { type IssuedLink, type Letter, MailSender } from "../mail-sender.ts";
import { type AddressProof } from "./address-proof.ts";
import type { CredentialGrant } from "./credential-gate.ts";
import { SignIns } from "./sign-ins.ts";

/** Everything that makes or changes a lasting credential. */
interface CredentialWriters {
  readonly objects: AccountUsers;
  readonly keys: APIKeys;
  readonly factors: SecondFactors;
  /** `null` if the application has no passkeys. */
  readonly passkeys: Passkeys | null;
  readonly links: ProviderLinks;
}

/** The accounts of an application: the only place that gives out what makes or changes a lasting credential. */
export class Accounts extends AccountBase {
  readonly mail: AccountMail;
  readonly revocation: AccountRevocation;
  readonly signIns: SignIns;
  readonly #writers: Omit<CredentialWriters, "links">;

  constructor(options: ResolvedAccountOptions) {
    const keys = options.keys ?? new APIKeys(options.store === undefined ? {} : { store: options.store });
    const factors = new SecondFactors(options.secret, options.passkeys !== undefined);
    const passkeys = options.passkeys === undefined ? null : new Passkeys(options.passkeys);
    super(options, { keys, factors, passkeys });
    this.mail = new AccountMail(this);
    this.revocation = new AccountRevocation(this);
    this.signIns = new SignIns(this);
    this.#writers = { objects: options.userModel.objects, keys, factors, passkeys };
  }

  /**
   * Gives out what makes or changes lasting credentials, to a caller who has passed the gate or proved an address. There
   * is no other way to it.
   */
  change(ctx: HttpContext, permit: CredentialGrant | AddressProof): CredentialWriters {
    void permit;
    return { ...this.#writers, links: new ProviderLinks(this.store(ctx)) };
  }

  /** Links an account of a provider to a user, and reports it: to the owner too, unless the user is new. */
  async link(
    ctx: HttpContext,
    permit: CredentialGrant | AddressProof,
    provider: IdentityProvider,
    account: ProviderAccount,
    isNew = false,
  ): Promise<void> {
    const { user } = permit;
    const { links } = this.change(ctx, permit);
    await links.add(user.identity, provider.name, account, ctx.services.clock.now(), isNew);
    this.report(ctx, "provider_linked", user.identity);
    if (!isNew) this.mail.send(ctx, async () => ({ kind: "provider_linked", provider, to: user }));
  }
}

/** The mails about accounts. They are sent after the response. */
class AccountMail {
  readonly #base: AccountBase;
  readonly #sender: MailSender;

  constructor(base: AccountBase) {
    this.#base = base;
    this.#sender = new MailSender(base.options, (ctx, page) => base.urlOf(ctx, page));
  }

  /** Sends the email that `write` returns, after the response, unless there were too many. */
  send(ctx: HttpContext, write: () => Promise<Letter | null>): void {
    this.#base.later(ctx, "failed to send an email", async () => {
      const letter = await write();
      if (letter !== null) await this.#sender.send(ctx, letter);
    });
  }

  /**
   * Sends a verification link after the response, unless the address is verified or has got too many.
   */
  sendVerification(ctx: HttpContext, find: () => Promise<AccountHolder | null>): void {
    this.send(ctx, async () => {
      const user = await find();
      if (user === null || user.isVerified) return null;
      const issue = async (): Promise<IssuedLink> => ({
        page: this.#base.options.verifyPage,
        token: await this.#base.verifyTokens(ctx).issue({ user: user.identity, about: user.email }),
        code: await this.#base.verifyCodes(ctx).issue(user),
      });
      return { to: user, kind: "verify", issue };
    });
  }
}
