/** What came back. */
export interface TestResponse {
  readonly status: number;
  /** A header that was sent several times is joined by commas; `cookies` has those of `Set-Cookie` one by one. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The lines of `Set-Cookie` as they came, such as `theme=dark; Path=/; HttpOnly`. A client `withCookies()` sends them back. */
  readonly cookies: readonly string[];
  text(): string;
  json(): unknown;
  bytes(): Uint8Array;
}

/** Headers as Node gives them. */
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

/** The lines of `Set-Cookie`, one by one. */
export function setCookies({ "set-cookie": lines = [] }: TestResponseHeaders): readonly string[] {
  return typeof lines === "string" ? [lines] : lines;
}
