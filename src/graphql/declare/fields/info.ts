/**
 * Declares a parameter as graphql's resolve info: `params: { i: Info }`. A destructured `info` needs no declaration.
 *
 * @example
 * ```ts
 * import { field, Info, t } from "portico/graphql";
 *
 * export const alias = field(t.string, { params: { i: Info } })(({ i }) => String(i.path.key));
 * ```
 */
export const Info: { readonly "~kind": "info" } = Object.freeze({ "~kind": "info" });
