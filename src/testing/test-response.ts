/** The response to a test request. */
export interface TestResponse {
  readonly status: number;
  /** Repeated headers are joined with commas. Use `cookies` for the separate lines of `Set-Cookie`. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The lines of `Set-Cookie`, such as `theme=dark; Path=/; HttpOnly`. A client `withCookies()` sends them back. */
  readonly cookies: readonly string[];
  text(): string;
  json(): unknown;
  bytes(): Uint8Array;
}

/** Headers in the format of Node. */
export type TestResponseHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export function toTestResponse(status: number, headers: TestResponseHeaders, body: Buffer): TestResponse {
  return {
    status,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === "object" ? value.join(", ") : value]),
    ),
    cookies: setCookies(headers),
    text: () => body.toString("utf8"),
    json: () => JSON.parse(body.toString("utf8")),
    bytes: () => body,
  };
}

/** Returns the separate lines of `Set-Cookie`. */
export function setCookies({ "set-cookie": lines = [] }: TestResponseHeaders): readonly string[] {
  return typeof lines === "string" ? [lines] : lines;
}
