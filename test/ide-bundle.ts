import { buildIde } from "../scripts/build-ide.ts";

/** Bundles the explorer before the tests that open it, unless that was done already. */
export async function setup(): Promise<void> {
  await buildIde();
}
