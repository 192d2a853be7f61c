/** A file that came with the operation. All of it has been received, within the limits, when the resolver runs. */
export interface Upload {
  /** As the client named it: never a path to write to. */
  readonly filename: string;
  /** As the client declared it. */
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
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
