/** A file that came with the operation. All of it has been received, within the limits, when the resolver runs. */
export interface Upload {
  /** As the client named it, without directories; it may be empty. A name to show, not a path to write to. */
  readonly filename: string;
  /** As the client declared it, in lower case and without parameters: what the content really is, nobody has looked. */
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** The whole content; each call gives a stream of its own. Until the operation has been answered. */
  stream(): ReadableStream<Uint8Array>;
}

export function isUpload(value: unknown): value is Upload {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as Partial<Upload>).filename === "string" &&
    typeof (value as Partial<Upload>).stream === "function"
  );
}
