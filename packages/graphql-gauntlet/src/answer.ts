/** A response of the server, as far as the checks look at it. */
export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly text: string;
  /** The media type of the response, in lower case and without parameters. */
  readonly type: string;
  /** The parsed body, or undefined if it is not JSON. */
  readonly json: unknown;
  /** The `data` of the response, or undefined if it has none. */
  readonly data: unknown;
  /** The `errors` of the response, or undefined if it has none. */
  readonly errors: unknown;
}

/** Reads a response. The body is parsed whatever its media type is. */
export function readAnswer(status: number, headers: Answer["headers"], text: string): Answer {
  const json = parsed(text);
  const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
  const body: Readonly<Record<string, unknown>> = isObject ? (json as Record<string, unknown>) : {};
  const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  return { status, headers, text, type, json, data: body["data"], errors: body["errors"] };
}

/** Whether an operation was executed: a response with data that is not null. */
export function isExecuted({ data, json }: Answer): boolean {
  const results: readonly unknown[] = Array.isArray(json)
    ? json.map((entry) => (entry as { readonly data?: unknown } | null)?.data)
    : [data];
  return results.some((result) => result !== undefined && result !== null);
}

/** A response in a few words, for a complaint. */
export function describeAnswer({ status, type, text }: Answer): string {
  const start = text.length > 120 ? `${text.slice(0, 120)}...` : text;
  return `${status} ${type || "without Content-Type"}${start === "" ? "" : `: ${start.replace(/\s+/g, " ")}`}`;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
