import { listOf, type OptionRule, text } from "../../../core/resolve-options.ts";
import type { Auth } from "../../../kernel/access/gate.ts";
import { authRule, type WrittenAuth } from "../../../kernel/access/read-gate.ts";
import type { BaseContext } from "../../../kernel/context/http-context.ts";
import type { CurrentUser } from "../../../kernel/identity/identity.ts";
import { ResolverError } from "./resolver-error.ts";
import type { AppliedDirective } from "./type-node.ts";

/** The options of every named type. */
export interface TypeOptions {
  readonly description?: string;
  /** Directives made by `t.directive`, with their arguments. @default none */
  readonly directives?: readonly AppliedDirective[];
}

/** The options of a type with fields. */
export interface GatedTypeOptions<Row> extends TypeOptions {
  /**
   * Decides about every object of the type, wherever it appears. A refused object reads as absent: it is null without an
   * error, lists leave it out unless their items are nullable, and events with it are dropped. A function receives the object as `parent`.
   * @default no gate
   */
  readonly auth?: Auth<TypePlace<NoInfer<Row>>>;
}
/** The second parameter of a gate function on a type. */
export interface TypePlace<Row> {
  /** The object. */
  readonly parent: Row;
  readonly ctx: BaseContext<CurrentUser>;
}

/** The option `directives` of types, fields, arguments and enum values. */
export const directiveList: OptionRule<readonly AppliedDirective[]> = listOf<AppliedDirective>(
  "a list of directives with their arguments, such as [cacheControl({ maxAge: 60 })]",
  (entry) =>
    typeof entry === "object" && entry !== null && (entry as Partial<AppliedDirective>)["~kind"] === "directive",
);

type TypeRules = {
  readonly description: OptionRule<string>;
  readonly directives: OptionRule<readonly AppliedDirective[]>;
};
export const typeRules: TypeRules = { description: text, directives: directiveList };
export const gatedTypeRules: TypeRules & { readonly auth: OptionRule<WrittenAuth> } = { ...typeRules, auth: authRule };

/** Rejects a name that GraphQL does not allow, at the place where it is declared. */
export function checkName(place: string, name: unknown): asserts name is string {
  if (typeof name !== "string" || !/^[_A-Za-z]\w*$/.test(name) || name.startsWith("__"))
    throw new ResolverError(
      place,
      `a GraphQL name may contain only letters, digits and underscores and must not start with a digit or "__", received ${JSON.stringify(name)}`,
    );
}
