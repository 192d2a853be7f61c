/** One part as it goes over the wire. */
export interface FormPart {
  readonly name?: string;
  readonly filename?: string;
  readonly type?: string;
  /** Instead of the headers that `name`, `filename` and `type` make. */
  readonly headers?: string;
  readonly content: string | Uint8Array;
}

export const BOUNDARY = "portico-boundary";
export const CONTENT_TYPE: string = `multipart/form-data; boundary=${BOUNDARY}`;

/** The bytes of a multipart body: what is given, in that order, however wrong. */
export function form(parts: readonly FormPart[], ending = "--\r\n"): Buffer {
  const pieces = parts.flatMap((part) => [
    Buffer.from(`--${BOUNDARY}\r\n${part.headers ?? headersOf(part)}\r\n\r\n`, "utf8"),
    Buffer.from(part.content as string),
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${BOUNDARY}${ending}`)]);
}

function headersOf({ name, filename, type }: FormPart): string {
  const file = filename === undefined ? "" : `; filename="${filename}"`;
  const contentType = type === undefined ? "" : `\r\nContent-Type: ${type}`;
  return `Content-Disposition: form-data; name="${name}"${file}${contentType}`;
}

export function operations(variables: unknown): FormPart {
  return json("operations", { query: "mutation ($f: Upload) { up(f: $f) }", variables });
}

export function map(paths: unknown): FormPart {
  return json("map", paths);
}

export function json(name: string, value: unknown): FormPart {
  return { name, content: JSON.stringify(value) };
}

export function file(name: string, content: string | Uint8Array = "content", rest: Partial<FormPart> = {}): FormPart {
  return { name, filename: `${name}.png`, type: "image/png", content, ...rest };
}

/** A whole request with one file at `variables.f`. */
export function oneFile(content: string | Uint8Array = "content", rest: Partial<FormPart> = {}): readonly FormPart[] {
  return [operations({ f: null }), map({ 0: ["variables.f"] }), file("0", content, rest)];
}
