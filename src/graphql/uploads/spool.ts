import { ByteBuffer } from "./byte-buffer.ts";
import { SpillFile } from "./spill-file.ts";

/** The content of one file, in memory or on disk. */
export interface StoredContent {
  readonly size: number;
  /** Reads at most `length` bytes from `position`, as a copy. */
  read(position: number, length: number): Promise<Uint8Array>;
}

const BLOCK_BYTES = 65_536;

/** Stores the files of one request: in memory up to `spillAbove` bytes in total, above that in one file on disk. */
export class Spool {
  readonly #spillAbove: number;
  readonly #directory: string;
  #heldBytes = 0;
  #file: SpillFile | null = null;
  readonly #closing = new AbortController();

  constructor({ spillAbove, directory }: { readonly spillAbove: number; readonly directory: string }) {
    this.#spillAbove = spillAbove;
    this.#directory = directory;
  }

  /** Aborts when the spool closes: no content can be read after that. */
  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Stores the content of one file. Calls must not overlap, because all files append to the same file on disk. */
  async store(content: AsyncIterable<Buffer>): Promise<StoredContent> {
    const buffer = new ByteBuffer();
    let start: number | null = null;
    for await (const chunk of content) {
      buffer.add(chunk);
      if (start === null && this.#heldBytes + buffer.length > this.#spillAbove) {
        this.#file ??= await SpillFile.create(this.#directory);
        start = this.#file.length;
      }
      if (start !== null && buffer.length >= BLOCK_BYTES) await this.#spill(buffer);
    }
    if (start === null) {
      this.#heldBytes += buffer.length;
      return inMemory(buffer.toBytes());
    }
    await this.#spill(buffer);
    return onDisk(this.#file as SpillFile, start);
  }

  async #spill(buffer: ByteBuffer): Promise<void> {
    await this.#file?.append(buffer.view());
    buffer.clear();
  }

  /** Frees everything. May be called more than once. */
  async close(): Promise<void> {
    this.#closing.abort();
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

function inMemory(bytes: Buffer): StoredContent {
  return {
    size: bytes.length,
    read: async (position, length) => new Uint8Array(bytes.subarray(position, position + length)),
  };
}

function onDisk(file: SpillFile, start: number): StoredContent {
  const size = file.length - start;
  return {
    size,
    read: (position, length) => file.read(start + position, Math.min(length, size - position)),
  };
}
