import type { PorticoApp } from "portico";
import { warningsOf } from "../../src/audit/surface/warnings-of.ts";

/** The warnings of `portico audit` about an application, as sentences. */
export async function graphWarnings(app: PorticoApp): Promise<readonly string[]> {
  return (await warningsOf(app)).map(({ place, sentence }) => `${place} ${sentence}`);
}
