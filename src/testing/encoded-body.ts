/** An encoded request body. */
export interface EncodedBody {
  readonly bytes: string | Uint8Array | undefined;
  /** The `Content-Type`, unless the test sets one. */
  readonly type: string | null;
}

/**
 * Encodes a request body. Strings and bytes are sent unchanged and without a `Content-Type`; forms, blobs and streams
 * as `fetch` sends them; anything else as JSON.
 */
export async function encodeBody(body: unknown): Promise<EncodedBody> {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return { bytes: body, type: null };
  if (!isOfFetch(body)) return { bytes: JSON.stringify(body), type: "application/json" };
  // `Response` determines the content type, including the boundary of a form.
  const { headers, bytes } = await read(new Response(body));
  return { bytes, type: headers.get("content-type") };
}

type OfFetch = FormData | URLSearchParams | Blob | ArrayBuffer | ReadableStream<Uint8Array>;

function isOfFetch(body: unknown): body is OfFetch {
  return [FormData, URLSearchParams, Blob, ArrayBuffer, ReadableStream].some((type) => body instanceof type);
}

async function read(response: Response): Promise<{ headers: Headers; bytes: Uint8Array }> {
  return { headers: response.headers, bytes: new Uint8Array(await response.arrayBuffer()) };
}
