import type { Upload } from "../types/upload.ts";
import type { StoredContent } from "./spool.ts";

/** Small, so that what has been read is collected early: with 64 KiB, 200 MB leave 60 MB of garbage before that. */
const PIECE_BYTES = 8_192;

/** A file that has been received, as a resolver gets it. Its content goes when its operation has been answered. */
export class UploadedFile implements Upload {
  readonly filename: string;
  readonly contentType: string;
  readonly #content: StoredContent;
  readonly #gone: AbortSignal;

  constructor(declared: Pick<Upload, "filename" | "contentType">, content: StoredContent, gone: AbortSignal) {
    this.filename = declared.filename;
    this.contentType = declared.contentType;
    this.#content = content;
    this.#gone = gone;
  }

  get size(): number {
    return this.#content.size;
  }

  /**
   * The whole content, from its first byte; each call gives a stream of its own. Throws once the operation has been
   * answered, and a stream that is still open then fails.
   */
  stream(): ReadableStream<Uint8Array> {
    const content = this.#content;
    const gone = this.#gone;
    if (gone.aborted) throw goneError();
    let position = 0;
    let onGone: (() => void) | undefined;
    const done = (): void => {
      if (onGone !== undefined) gone.removeEventListener("abort", onGone);
    };
    return new ReadableStream<Uint8Array>(
      {
        start(controller) {
          onGone = () => controller.error(goneError());
          gone.addEventListener("abort", onGone, { once: true });
        },
        async pull(controller) {
          const piece = position < content.size ? await content.read(position, PIECE_BYTES) : null;
          if (gone.aborted) return;
          if (piece !== null) controller.enqueue(piece);
          position += piece?.length ?? 0;
          if (position < content.size) return;
          done();
          controller.close();
        },
        cancel: done,
      },
      // Nothing is read ahead: a stream that nobody reads costs nothing.
      { highWaterMark: 0 },
    );
  }
}

function goneError(): Error {
  return new Error(
    "an uploaded file can be read only until its operation has ended; copy the data that you need later",
  );
}
