import { buildIde } from "../scripts/build-ide.ts";

/** Before all tests: the page of the IDE, unless it is there already. */
export async function setup(): Promise<void> {
  await buildIde();
}
