/** A body as it goes out. */
export interface EncodedBody {
  readonly bytes: string | Uint8Array | undefined;
  /** What `Content-Type` says, unless the test says it. */
  readonly type: string | null;
}

/**
 * The bytes of what a test sends. A string and bytes go as they are, without a word on what they are; forms, blobs and streams
 * as `fetch` would send them; anything else as JSON.
 */
export async function encodeBody(body: unknown): Promise<EncodedBody> {
  if (body === undefined || typeof body === "string" || body instanceof Uint8Array) return { bytes: body, type: null };
  if (!isOfFetch(body)) return { bytes: JSON.stringify(body), type: "application/json" };
  // A Response knows the type of each, the boundary of a form included.
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
