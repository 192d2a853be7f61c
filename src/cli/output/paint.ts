import { styleText } from "node:util";

/** Gives a text a colour or a weight. */
export type Paint = (format: Parameters<typeof styleText>[0], text: string) => string;

/**
 * Decides on colours for all commands: on a terminal, unless `NO_COLOR` is set (https://no-color.org). Without them, the
 * output has no escape sequences.
 */
export function hasColors(
  width: number | null,
  { NO_COLOR = "" }: Readonly<Record<string, string | undefined>>,
): boolean {
  return width !== null && NO_COLOR === "";
}

export function paintFor(isColored: boolean): Paint {
  return (format, text) => (isColored ? styleText(format, text, { validateStream: false }) : text);
}
