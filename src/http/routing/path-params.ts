import type { RawPath } from "../../kernel/exchange/exchange.ts";

/** One parameter segment without its pattern: `name(^\\d+).png` declares `name`. */
export type ParamName<S extends string> = S extends `${infer N}(${string}` ? N : S;
/** The parameter segments of a path, by name; an optional one keeps its question mark. */
export type PathSegments<S extends string> = S extends `${infer Head}/${infer Tail}`
  ? PathSegments<Head> | PathSegments<Tail>
  : S extends `:${infer N}`
    ? ParamName<N>
    : S extends "*"
      ? "*"
      : never;
/** The parameters that a path literal declares: `shop` and `id` for `/shops/:shop/books/:id`. */
export type PathParams<P extends string> = string extends P
  ? RawPath
  : PathSegments<P> extends infer Names extends string
    ? { readonly [K in Names as K extends `${string}?` ? never : K]: string } & OptionalParams<
        Extract<Names, `${string}?`>
      >
    : never;
/** `unknown` without an optional segment, because an intersection with `{}` would show in the editor. */
export type OptionalParams<Names extends string> = [Names] extends [never]
  ? unknown
  : { readonly [K in Names as K extends `${infer N}?` ? N : never]?: string };

/** Joins a prefix and a path, with one slash between and none at the end. */
export function joinPath(prefix: string, path: string): string {
  const joined = `${prefix.replace(/(?<!\/)\/+$/, "")}${path === "/" ? "" : path}`;
  return joined === "" ? "/" : joined;
}
