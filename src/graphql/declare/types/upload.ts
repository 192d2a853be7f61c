/** A file that was sent with the operation. When the resolver runs, the whole file has been received within the limits. */
export interface Upload {
  /**
   * The name from the client, without directories and control characters, of at most 255 characters. It may be empty. Show
   * it, but do not use it as a path.
   */
  readonly filename: string;
  /** The type that the client declared, in lower case and without parameters. It is not checked against the content. */
  readonly contentType: string;
  /** The size in bytes. */
  readonly size: number;
  /** Returns a new stream of the whole content. Available until the response to the operation is complete. */
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
