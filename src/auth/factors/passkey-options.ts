import { ConfigurationError } from "../../core/configuration-error.ts";
import { listOf, optionRule, resolveOptions, text } from "../../core/resolve-options.ts";
import { optionalPackage } from "../optional-package.ts";

/** The options of passkeys (WebAuthn). */
export interface PasskeyOptions {
  /** The name of your service, as browsers and authenticators show it. */
  readonly rpName: string;
  /** The domain that passkeys belong to: that of your pages or a parent domain. @default the host of `publicUrl` */
  readonly rpId?: string;
  /** The origins of the pages that use passkeys. @default the origin of `publicUrl` */
  readonly origins?: readonly string[];
}

export interface ResolvedPasskeyOptions {
  readonly rpName: string;
  readonly rpId: string | undefined;
  readonly origins: readonly string[] | undefined;
}

export const WEBAUTHN = "@simplewebauthn/server";

/** Resolves the options. Throws `ConfigurationError` if one is wrong or the package is not installed. */
export function resolvePasskeyOptions(owner: string, given: PasskeyOptions): ResolvedPasskeyOptions {
  const { rpName, rpId, origins } = resolveOptions(owner, given, rules);
  if (rpName === undefined) throw new ConfigurationError(`${owner}.rpName`, "is missing");
  optionalPackage(owner, WEBAUTHN);
  return { rpName, rpId, origins };
}

const rules = {
  rpName: { ...text, strict: true as const },
  rpId: {
    ...optionRule<string>("a domain, without a scheme and a port", isDomain),
    strict: true as const,
  },
  origins: {
    ...listOf<string>('a list of origins, such as "https://shop.example"', isOrigin),
    strict: true as const,
  },
};

function isDomain(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(`https://${value}`) && new URL(`https://${value}`).host === value;
}

function isOrigin(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && new URL(value).origin === value;
}
