import type { Readable } from "node:stream";
import { BodyIncomplete, PayloadTooLarge } from "../../kernel/exceptions/http-exception.ts";

/**
 * Reads a body in chunks, at the speed of the reader. Throws `PayloadTooLarge` after `limit` bytes, and `BodyIncomplete` if the
 * client disconnects or `signal` aborts. A reader that stops early leaves the rest unread and the stream open, because the
 * connection still has to carry the response.
 */
export async function* bodyChunks(
  stream: Readable,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): AsyncGenerator<Buffer, void, undefined> {
  let wake: (() => void) | undefined;
  const onChange = (): void => wake?.();
  let length = 0;
  for (const event of EVENTS) stream.on(event, onChange);
  signal.addEventListener("abort", onChange);
  try {
    for (;;) {
      if (signal.aborted) throw new BodyIncomplete({ cause: signal.reason });
      const chunk = stream.read() as Buffer | null;
      if (chunk !== null) {
        length += chunk.length;
        if (length > limit) throw new PayloadTooLarge(limit);
        yield chunk;
      } else if (stream.readableEnded) {
        return;
      } else if (stream.destroyed) {
        throw new BodyIncomplete({ cause: stream.errored });
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    for (const event of EVENTS) stream.off(event, onChange);
    signal.removeEventListener("abort", onChange);
  }
}

const EVENTS = ["readable", "end", "error", "close"] as const;
