import { fillPath } from "./fill-path.ts";
import { sendOnce } from "./idempotency.ts";
import type { Request, RequestOptions } from "./request.ts";
import type { TokenKeeper } from "./token-keeper.ts";

/** The options of a REST request, without their types. */
export interface AnyRestOptions extends RequestOptions {
  readonly path?: Readonly<Record<string, unknown>> | undefined;
  readonly query?: Readonly<Record<string, unknown>> | string | undefined;
  readonly body?: unknown;
}

/** Sends a REST request and reads its response. */
export type Rest = (method: string, template: string, options?: AnyRestOptions) => Promise<unknown>;

/** Makes the function behind `client.get`, `client.post` and so on. */
export function restThrough(request: Request, tokens: Pick<TokenKeeper, "run">, idempotent: ReadonlySet<string>): Rest {
  return async (method, template, { path = {}, query = {}, ...rest } = {}) => {
    const parts = {
      ...rest,
      method,
      path: fillPath(template, path) + (typeof query === "string" ? query : queryText(query)),
    };
    return sendOnce(
      idempotent.has(`${method} ${template}`),
      (key) => {
        const headers = key === undefined ? rest.headers : { "idempotency-key": key, ...rest.headers };
        return tokens.run((token) => request({ ...parts, headers, token }, readBody), rest.signal);
      },
      rest.signal,
    );
  };
}

/** An array is a repeated parameter. Portico's lists take `sort` and the `in` filters as one parameter with commas. */
function queryText(query: Readonly<Record<string, unknown>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    const isList = name === "sort" || name.endsWith(".in");
    for (const one of Array.isArray(value) && !isList ? value : [value])
      if (one !== undefined && one !== null) params.append(name, String(one));
  }
  const text = params.toString();
  return text && `?${text}`;
}

async function readBody(response: Response): Promise<unknown> {
  const type = response.headers.get("content-type") ?? "";
  if (/[/+]json\b/.test(type)) return response.json();
  if (type.startsWith("text/")) return response.text();
  const body = await response.blob();
  return body.size === 0 ? undefined : body;
}
