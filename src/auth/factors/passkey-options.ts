import { optionalPackage } from "../../core/packages/optional-package.ts";
import {
  type Complete,
  listOf,
  optionRule,
  required,
  resolveOptions,
  strict,
  text,
} from "../../core/resolve-options.ts";

/** The options of passkeys (WebAuthn). */
export interface PasskeyOptions {
  /** The name of your service, as browsers and authenticators show it. */
  readonly rpName: string;
  /** The domain that passkeys belong to: that of your pages or a parent domain. @default the host of `publicUrl` */
  readonly rpId?: string;
  /** The origins of the pages that use passkeys. @default the origin of `publicUrl` */
  readonly origins?: readonly string[];
}

export type ResolvedPasskeyOptions = Complete<PasskeyOptions, "rpId" | "origins">;

export const WEBAUTHN = "@simplewebauthn/server";

/** Resolves the options. Throws `ConfigurationError` if one is wrong or the package is not installed. */
export function resolvePasskeyOptions(owner: string, given: PasskeyOptions): ResolvedPasskeyOptions {
  const read = resolveOptions(owner, given, rules);
  optionalPackage(owner, WEBAUTHN);
  return read;
}

const rules = {
  rpName: required(strict(text)),
  rpId: strict(optionRule<string>("a domain, without a scheme and a port", isDomain)),
  origins: strict(listOf<string>('a list of origins, such as "https://shop.example"', isOrigin)),
};

function isDomain(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(`https://${value}`) && new URL(`https://${value}`).host === value;
}

function isOrigin(value: unknown): boolean {
  return typeof value === "string" && URL.canParse(value) && new URL(value).origin === value;
}
