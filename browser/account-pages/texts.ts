import type { ScriptTexts } from "../../src/http/html/page-texts.ts";

/** The server writes them at the beginning of the script. */
declare const pageTexts: ScriptTexts;

export const texts: ScriptTexts = pageTexts;

export { fillText } from "../../src/http/html/fill-text.ts";

/** A date as the pages show it. */
export function day(date: string): string {
  return new Intl.DateTimeFormat(texts.language, { dateStyle: "medium" }).format(new Date(date));
}

/** A time to wait in words: "30 seconds", "2 minutes". */
export function duration(seconds: number): string {
  const [value, unit] = seconds < 90 ? [seconds, "second"] : [Math.ceil(seconds / 60), "minute"];
  return new Intl.NumberFormat(texts.language, { style: "unit", unit, unitDisplay: "long" }).format(value);
}
