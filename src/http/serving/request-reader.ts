import { andThen, type MaybePromise } from "../../core/maybe-promise.ts";
import type { BaseContext } from "../../kernel/context/http-context.ts";
import { ValidationFailed } from "../../kernel/exceptions/http-exception.ts";
import type { AnyStrategy } from "../../pagination/strategies/strategy-by-name.ts";
import { queryReader } from "../routing/query-reader.ts";
import { type Schema, validate } from "../routing/schema.ts";

/** The schemas of the parts of a request that a gate may look at. */
interface PlaceSchemas {
  readonly path: Schema | undefined;
  readonly query: Schema | undefined;
}

/** Parses the path, then the query, each with its schema; `null` if there is neither. */
export function requestReader(
  { path, query }: PlaceSchemas,
  strategy?: AnyStrategy,
): ((ctx: BaseContext) => MaybePromise<void>) | null {
  if (path === undefined && query === undefined) return null;
  const fromText = query === undefined ? null : queryReader(query, strategy);
  const readQuery = ({ incoming }: BaseContext): MaybePromise<void> => {
    if (query === undefined || fromText === null) return;
    return andThen(checkPart(query, fromText(incoming.query), "query"), (value) => incoming.accept("query", value));
  };
  if (path === undefined) return readQuery;
  return (ctx) =>
    andThen(checkPart(path, ctx.incoming.params, "path"), (value) => {
      ctx.incoming.accept("params", value);
      return readQuery(ctx);
    });
}

/** Tells the request which of its parts are going to be parsed, before middleware or a gate sees it. */
export function expecting<C extends BaseContext, R>({ path, query }: PlaceSchemas, run: (ctx: C) => R): (ctx: C) => R {
  const parts = [
    ...(path === undefined ? [] : ["params" as const]),
    ...(query === undefined ? [] : ["query" as const]),
  ];
  if (parts.length === 0) return run;
  return (ctx) => {
    ctx.incoming.expect(parts);
    return run(ctx);
  };
}

/** Validates one part of the request with its schema; the 422 lists the issues. */
export function checkPart(schema: Schema, value: unknown, part: "path" | "query" | "body"): MaybePromise<unknown> {
  return validate(schema, value, (issues) => new ValidationFailed(part, issues));
}
