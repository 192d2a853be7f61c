import { astFromValue, type DirectiveLocation, GraphQLDirective, GraphQLNonNull, specifiedDirectives } from "graphql";
import { ResolverError } from "../declare/references/resolver-error.ts";
import type { AppliedDirective, DirectiveNode } from "../declare/references/type-node.ts";
import type { FieldTypes } from "./field-config.ts";

/** The directives of one schema: a name belongs to one of them. */
export class SchemaDirectives {
  readonly #byName = new Map<string, DirectiveNode>();
  readonly #built = new Map<DirectiveNode, GraphQLDirective>();

  /** Adds a directive. Returns `false` if it is known already. */
  add(place: string, node: DirectiveNode): boolean {
    const other = this.#byName.get(node.name);
    if (other === node) return false;
    if (other !== undefined) throw new ResolverError(place, `there are two directives named @${node.name}`);
    if (specifiedDirectives.some(({ name }) => name === node.name))
      throw new ResolverError(place, `@${node.name} is a directive of GraphQL itself: choose another name`);
    this.#byName.set(node.name, node);
    return true;
  }

  build(types: Pick<FieldTypes, "input" | "validation">): readonly GraphQLDirective[] {
    return [...this.#byName.values()].map((node) => this.#directive(node, types));
  }

  /** The extensions of a place with these directives. Throws `ResolverError` if one of them does not belong there. */
  extensions(
    place: string,
    location: `${DirectiveLocation}`,
    applied: readonly AppliedDirective[] | undefined,
    types: Pick<FieldTypes, "input" | "validation">,
  ): { readonly directives?: readonly { readonly name: string; readonly args: object }[] } {
    if (applied === undefined || applied.length === 0) return {};
    const seen = new Set<DirectiveNode>();
    const directives = applied.map(({ directive, args }) => {
      if (!(directive.locations as readonly string[]).includes(location))
        throw new ResolverError(
          place,
          `@${directive.name} cannot be applied here: ${location} is not in its option on (${directive.locations.join(", ")})`,
        );
      if (seen.has(directive) && !directive.isRepeatable)
        throw new ResolverError(place, `has @${directive.name} twice: set its option repeatable`);
      seen.add(directive);
      checkArgs(`${place} @${directive.name}`, this.#directive(directive, types), args);
      return { name: directive.name, args };
    });
    return { directives };
  }

  #directive(node: DirectiveNode, types: Pick<FieldTypes, "input" | "validation">): GraphQLDirective {
    const known = this.#built.get(node);
    if (known !== undefined) return known;
    const { name, description, isRepeatable, locations } = node;
    const args = Object.fromEntries(
      node.args.map(([key, arg]) => {
        const place = `@${name}(${key}:)`;
        if (types.validation.of(place, arg.type) !== null)
          throw new ResolverError(place, "has a schema, which an argument of a directive cannot have");
        return [key, types.input(place, arg)];
      }),
    );
    const built = new GraphQLDirective({ name, description, isRepeatable, locations: [...locations], args });
    this.#built.set(node, built);
    return built;
  }
}

function checkArgs(place: string, directive: GraphQLDirective, given: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(given))
    if (!directive.args.some((arg) => arg.name === name))
      throw new ResolverError(place, `has no argument named ${name}`);
  for (const { name, type, defaultValue } of directive.args) {
    const value = given[name];
    const isMissing = value === undefined || value === null;
    if (isMissing && type instanceof GraphQLNonNull && (value === null || defaultValue === undefined))
      throw new ResolverError(place, `the argument ${name} is required`);
    if (isMissing) continue;
    try {
      if (astFromValue(value, type) === null) throw new TypeError(`${typeof value} does not fit`);
    } catch (cause) {
      throw new ResolverError(
        place,
        `the argument ${name} does not match the type ${String(type)}: ${(cause as Error).message}`,
        { cause },
      );
    }
  }
}
