import { buildIde } from "../../../scripts/build-ide.ts";
import { accountReaders } from "./accounts.ts";
import { bodyReaders } from "./bodies.ts";
import { documentReaders } from "./documents.ts";
import { everything } from "./everything.ts";
import { headerReaders } from "./headers.ts";
import type { Reader } from "./reader.ts";
import { socketReaders } from "./sockets.ts";
import { targetReaders } from "./targets.ts";

export interface AllReaders {
  readonly readers: readonly Reader[];
  readonly close: () => Promise<void>;
}

/** Starts the application and returns every place in it that reads text of a client. */
export async function allReaders(): Promise<AllReaders> {
  // One of the entry points is the page of the explorer.
  await buildIde();
  const app = await everything();
  const readers = [headerReaders, targetReaders, bodyReaders, documentReaders, accountReaders, socketReaders];
  return { readers: readers.flatMap((make) => make(app)), close: () => app.live.close() };
}
