import { withTimeout } from "../../../core/work/with-timeout.ts";
import { sentenceOf } from "../../output/sentence-of.ts";

/** The result of one check. */
export interface Finding {
  readonly level: "ok" | "warning" | "failed" | "not checked";
  /** The name of the check, such as `database`. */
  readonly check: string;
  /** The finding as a sentence. For a warning or a failure it names the option and the fix. */
  readonly message: string;
}

export function ok(check: string, message: string): Finding {
  return { level: "ok", check, message };
}

export function warning(check: string, message: string): Finding {
  return { level: "warning", check, message };
}

export function failed(check: string, message: string): Finding {
  return { level: "failed", check, message };
}

/** Something that the command can't see, which is not a success. */
export function notChecked(check: string, message: string): Finding {
  return { level: "not checked", check, message };
}

/** Runs a check for a limited time. An error fails it, with the fix that was given. */
export async function attempt(
  check: string,
  work: () => Promise<Finding | readonly Finding[]>,
  { seconds = 4, fix = "" }: { readonly seconds?: number; readonly fix?: string } = {},
): Promise<readonly Finding[]> {
  try {
    const found = await withTimeout(seconds * 1000, work());
    return "level" in found ? [found] : found;
  } catch (error) {
    return [failed(check, [sentenceOf(error), fix].filter((part) => part !== "").join(". "))];
  }
}
