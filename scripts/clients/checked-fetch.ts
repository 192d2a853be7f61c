import type { OpenAPIDocument } from "portico";
import type { JSONSchema } from "portico/types";
import { z } from "zod";
import { mapSchema } from "../../src/openapi/map-schema.ts";

/** A `fetch` that keeps cookies, and throws for every response that its document does not describe. */
export interface CheckedFetch {
  readonly fetch: (request: Request) => Promise<Response>;
  /** Which responses there were: `accountLogin 200`. */
  readonly seen: ReadonlySet<string>;
}

/** The status must be listed, not covered by `default`; the body must fit the schema and have no other members. */
export function checkedFetch(document: OpenAPIDocument): CheckedFetch {
  const cookies = new Map<string, string>();
  const seen = new Set<string>();
  const operations = operationsOf(document);
  return {
    seen,
    async fetch(request) {
      const own = new Headers(request.headers);
      if (!own.has("cookie") && cookies.size > 0)
        own.set("cookie", [...cookies].map(([name, value]) => `${name}=${value}`).join("; "));
      const response = await fetch(new Request(request, { headers: own }));
      for (const cookie of response.headers.getSetCookie()) keep(cookies, cookie);
      const { pathname } = new URL(request.url);
      const operation = operations.find(({ method, path }) => method === request.method && path.test(pathname));
      if (operation === undefined) throw new Error(`${request.method} ${pathname} is not in the document`);
      await operation.check(response.clone());
      seen.add(`${operation.id} ${response.status}`);
      return response;
    },
  };
}

/** `accountLogin 200` for each response in the document. */
export function describedResponses(document: OpenAPIDocument): readonly string[] {
  return Object.values(document.paths)
    .flatMap((path) => Object.values(path))
    .flatMap(({ operationId, responses }) => Object.keys(responses).map((status) => `${operationId} ${status}`))
    .filter((entry) => !entry.endsWith(" default"));
}

function keep(cookies: Map<string, string>, cookie: string): void {
  const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
  if (value === "" || /max-age=0/i.test(cookie)) cookies.delete(name);
  else cookies.set(name, value);
}

interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: RegExp;
  readonly check: (response: Response) => Promise<void>;
}

function operationsOf(document: OpenAPIDocument): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`),
      async check(response: Response): Promise<void> {
        const described = responses[String(response.status)];
        const text = await response.text();
        const say = (fault: string): Error => new Error(`${operationId} ${response.status} ${fault}: ${text}`);
        if (described === undefined) throw say("is not in the document");
        const type = response.headers.get("content-type")?.split(";")[0] ?? null;
        const expected = Object.keys(described.content ?? {})[0] ?? null;
        if (type !== expected) throw say(`has the content type ${type}, not ${expected}`);
        if (expected === null) {
          if (text !== "") throw say("has a body");
          return;
        }
        const { success, error } = validator(document, described.content?.[expected]?.schema ?? {}).safeParse(
          JSON.parse(text),
        );
        if (!success) throw say(z.prettifyError(error));
      },
    })),
  );
}

/** Adds the components as definitions and closes the schema, so that an undescribed member is an error. */
function validator(document: OpenAPIDocument, schema: JSONSchema): z.ZodType {
  const local = (entry: unknown): JSONSchema =>
    mapSchema(entry, ({ $ref, ...rest }) => ({
      ...rest,
      ...(typeof $ref === "string" ? { $ref: $ref.replace("#/components/schemas/", "#/$defs/") } : {}),
      ...("properties" in rest && !("allOf" in rest) ? { additionalProperties: false } : {}),
    })) as JSONSchema;
  const $defs = Object.fromEntries(Object.entries(document.components.schemas).map(([name, s]) => [name, local(s)]));
  return z.fromJSONSchema({ ...local(schema), $defs });
}
