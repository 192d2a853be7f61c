import { hash } from "node:crypto";
import { type Channel, channel } from "node:diagnostics_channel";

/** Describes a secret that an option was given, without containing it. */
export interface SecretReport {
  readonly option: string;
  /** Equal for equal secrets. */
  readonly digest: string;
  /** Whether it looks like a sentence or a placeholder that someone wrote, not like random bytes. */
  readonly isWritten: boolean;
}

/** Receives a `SecretReport` for every secret that is read. `portico doctor` subscribes to it. */
export const secretReports: Channel = channel("portico.secrets");

/** Describes a secret. */
export function reportSecret(option: string, secret: string | Uint8Array): SecretReport {
  const bytes = Buffer.from(secret);
  const text = bytes.toString("latin1");
  return { option, digest: hash("sha256", bytes), isWritten: PRINTABLE.test(text) && WORDS.test(text) };
}

const PRINTABLE = /^[ -~]*$/;
/** A space, or a word that random text does not contain by chance. */
const WORDS = / |change.?me|default|develop|example|password|placeholder|secret|testing/i;
