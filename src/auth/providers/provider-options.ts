import { ConfigurationError } from "../../core/configuration-error.ts";
import { requirePackage } from "../../core/packages/optional-package.ts";
import {
  type Complete,
  flag,
  listOf,
  type OptionRule,
  optional,
  optionRule,
  type Resolved,
  required,
  resolveOptions,
  secondsUpTo,
  strict,
  text,
} from "../../core/resolve-options.ts";
import { canonicalName } from "../users/canonical-name.ts";

/** The options that all identity providers have. */
export interface ProviderOptions {
  /** The id of this application at the provider. */
  readonly clientId: string;
  /** The secret of this application at the provider. */
  readonly clientSecret: string;
  /** Whether a person without an account may register by signing in. @default true */
  readonly signUp?: boolean;
  /**
   * Whether the first sign-in links the provider to an existing user, if both have verified the same email address.
   * Enable it only for a provider that you trust with every account: it can then sign in as any of these users.
   * @default false
   */
  readonly linkVerifiedEmail?: boolean;
  /** The email domains that the provider is responsible for, such as `["acme.com"]`. @default [] */
  readonly domains?: readonly string[];
  /** Whether to reject addresses that are not verified or outside `domains`. @default false */
  readonly domainsOnly?: boolean;
  /** The time limit for each request to the provider, in seconds. @default 5 */
  readonly timeoutSeconds?: number;
}

/** The resolved options that all providers have. */
export type ResolvedProviderOptions = Complete<ProviderOptions>;
/** The rules for the accounts of a provider. */
export type ProviderRules = Pick<ResolvedProviderOptions, "signUp" | "linkVerifiedEmail" | "domains" | "domainsOnly">;

/** Resolves the options of a provider together with its `own`. Throws `ConfigurationError` without `openid-client`. */
export function resolveProviderOptions<const R extends Readonly<Record<string, OptionRule<any>>>>(
  owner: string,
  given: ProviderOptions,
  own: R,
): ResolvedProviderOptions & Resolved<R> {
  const read = resolveOptions(owner, given, { ...rules, ...own });
  const { domains, domainsOnly } = read as Resolved<typeof rules>;
  if (domainsOnly && domains.length === 0)
    throw new ConfigurationError(`${owner}.domainsOnly`, "requires domains: list the domains to accept");
  requirePackage(owner, "openid-client");
  return { ...(read as Resolved<R>), ...(read as Resolved<typeof rules>) };
}

/** The path segment of a provider in URLs. */
export const providerName: OptionRule<string> = optionRule(
  "1 to 40 lower-case letters, digits and hyphens, beginning with a letter, and not linked",
  (value) => typeof value === "string" && /^[a-z][a-z0-9-]{0,39}$/.test(value) && value !== "linked",
);

/** An https URL without query and fragment. Loopback addresses may use http, for development and tests. */
export const serverUrl: OptionRule<string> = optionRule(
  "an https URL, or an http URL on a loopback address, without a query or fragment",
  (value) => {
    if (typeof value !== "string" || !URL.canParse(value) || /[?#]/.test(value)) return false;
    const { protocol, username, password } = new URL(value);
    return username + password === "" && (protocol === "https:" || isInsecure(value));
  },
);

/** Whether the URL uses http on a loopback address. */
export function isInsecure(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

const domainList: OptionRule<readonly string[]> = listOf<string>(
  'a list of domains such as "acme.com"',
  (entry) => typeof entry === "string" && /^[^\s@/:.]+(?:\.[^\s@/:.]+)+$/.test(entry),
);

const rules = {
  clientId: required(strict(text)),
  clientSecret: required({ ...strict(text), isSecret: true as const }),
  signUp: optional(flag, true),
  linkVerifiedEmail: optional(flag, false),
  domains: optional(
    {
      ...domainList,
      read: (value: unknown) => {
        const list = domainList.read(value);
        // An address is compared in its canonical form, so its domain is too.
        return typeof list === "symbol" ? list : list.map((domain) => canonicalName(`@${domain}`).slice(1));
      },
    },
    [],
  ),
  domainsOnly: optional(flag, false),
  timeoutSeconds: optional(secondsUpTo(60), 5),
};
