import type { FileName } from "../../http/text/file-name.ts";
import type { Upload } from "../declare/types/upload.ts";
import type { StoredContent } from "./spool.ts";

/** Small, so that garbage is collected early: with pieces of 64 KiB, reading 200 MB piles up 60 MB of garbage. */
const PIECE_BYTES = 8_192;

/** An uploaded file, as resolvers receive it. Its content is deleted when its operation has ended. */
export class UploadedFile implements Upload {
  readonly filename: FileName;
  readonly contentType: string;
  readonly #content: StoredContent;
  readonly #gone: AbortSignal;

  constructor(declared: Pick<UploadedFile, "filename" | "contentType">, content: StoredContent, gone: AbortSignal) {
    this.filename = declared.filename;
    this.contentType = declared.contentType;
    this.#content = content;
    this.#gone = gone;
  }

  get size(): number {
    return this.#content.size;
  }

  /**
   * Streams the whole content. Each call returns a new stream. Throws after the operation has ended, and streams that are
   * still open then fail.
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
      // Nothing is read ahead, so a stream without a reader costs nothing.
      { highWaterMark: 0 },
    );
  }
}

function goneError(): Error {
  return new Error(
    "an uploaded file can be read only until its operation has ended; copy the data that you need later",
  );
}
