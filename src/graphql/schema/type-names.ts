import { classMembers } from "../declare/fields/class-members.ts";
import { declareHead, declareProperty } from "../declare/fields/declare-head.ts";
import { type FieldDeclaration, isDeclaration } from "../declare/fields/field-declaration.ts";
import { inheritGates } from "../declare/fields/inherit-gates.ts";
import { nodeOf } from "../declare/fields/node-of.ts";
import { ResolverError } from "../declare/references/resolver-error.ts";
import type {
  AnyRef,
  AppliedDirective,
  ArgNode,
  DirectiveNode,
  InterfaceNode,
  NamedNode,
  ObjectNode,
  UnionNode,
  WrapperNode,
} from "../declare/references/type-node.ts";
import { interfacesOf } from "../declare/types/type-gate.ts";
import { SchemaDirectives } from "./schema-directives.ts";

/** A field of an object: a plain type exposes the property of that name. */
type Member = AnyRef | FieldDeclaration;

/**
 * The named types of one schema, collected from its roots. A name belongs to one type, and references by name refer to
 * these types. All of them are collected before anything is built, so that the order of declarations does not matter.
 */
export class TypeNames {
  readonly #byName = new Map<string, NamedNode>();
  readonly directives: SchemaDirectives = new SchemaDirectives();
  /** The root types that fields cannot refer to, by name. */
  readonly #closed = new Map<string, string>();
  readonly #fields = new Map<ObjectNode | InterfaceNode, Readonly<Record<string, Member>>>();
  readonly #queue: (readonly [place: string, ref: AnyRef])[] = [];

  /** Adds all types that are reachable from a type. */
  addType(place: string, ref: AnyRef): void {
    this.#queue.push([place, ref]);
    this.#walk();
  }

  /** Adds all types that are reachable from a field. */
  addField(place: string, field: FieldDeclaration): void {
    this.#enqueueField(place, field);
    this.#walk();
  }

  /** Adds a directive and the types of its arguments. */
  addDirective(place: string, directive: DirectiveNode): void {
    this.#enqueueDirectives(place, [{ "~kind": "directive", directive, args: {} }]);
    this.#walk();
  }

  /**
   * Adds a root type, whose fields are added one by one. Fields may refer to the query type only: through another, a query could
   * run mutations, and even a GET request can carry a query.
   */
  addRoot(name: string, key: "query" | "mutation" | "subscription"): ObjectNode {
    const node: ObjectNode = {
      kind: "object",
      name,
      description: undefined,
      fields: {},
      interfaces: [],
      gate: null,
      model: null,
      node: null,
    };
    if (this.#byName.has(name)) throw new ResolverError("schema.names", `two root types are named ${name}`);
    this.#byName.set(name, node);
    if (key !== "query") this.#closed.set(name, key);
    return node;
  }

  nodes(): NamedNode[] {
    return [...this.#byName.values()];
  }

  /** The node of a type, looked up through thunks, classes and names. */
  resolve(place: string, ref: AnyRef): NamedNode | WrapperNode {
    const node = nodeOf(place, ref);
    if (node.kind !== "ref") return node;
    const named = this.#byName.get(node.name);
    const closed = this.#closed.get(node.name);
    if (closed !== undefined)
      throw new ResolverError(
        place,
        `${node.name} is the root type of the schema's ${closed}, which a field cannot have as its type`,
      );
    if (named !== undefined) return named;
    throw new ResolverError(
      place,
      `there is no type named ${node.name}. List it in the schema's types, or refer to it from another field`,
    );
  }

  /** The fields of a type: those that it declares, those of its class, and those that it inherits from interfaces. */
  fieldsOf(node: ObjectNode | InterfaceNode): Readonly<Record<string, Member>> {
    const known = this.#fields.get(node);
    if (known !== undefined) return known;
    const own = { ...node.fields } as Record<string, Member>;
    if (node.kind === "object" && node.model !== null) {
      for (const { key, field } of classMembers(node.model).values()) {
        if (field.operation !== "field")
          throw new ResolverError(
            `${node.name}.${key}`,
            `is declared with ${field.operation}(). Declare the fields of an object with field()`,
          );
        if (Object.hasOwn(node.fields, key))
          throw new ResolverError(`${node.name}.${key}`, "is declared twice: in object() and in its class");
        own[key] = field;
      }
    }
    const fields = this.#inherit(node, own);
    this.#fields.set(node, fields);
    return fields;
  }

  /** Adds the fields and gates of the interfaces. A redeclared field keeps the gates of every interface that has it. */
  #inherit(node: ObjectNode | InterfaceNode, own: Readonly<Record<string, Member>>): Readonly<Record<string, Member>> {
    const inherited = interfacesOf(node).map((type) => Object.entries(this.fieldsOf(type)));
    const fields = Object.assign({}, ...inherited.map((entries) => Object.fromEntries(entries)), own) as Record<
      string,
      Member
    >;
    for (const [key, member] of Object.entries(fields)) {
      const name = nameOf(key, member);
      const others = inherited.flatMap((entries) =>
        entries.flatMap(([theirs, other]) =>
          isDeclaration(other) && other !== member && nameOf(theirs, other) === name ? [other] : [],
        ),
      );
      if (!others.some(({ gates, limits }) => gates.length + limits.length > 0)) continue;
      const field = isDeclaration(member)
        ? member
        : declareProperty(`${node.name}.${key}`, declareHead("field", member, undefined), key);
      fields[key] = inheritGates(field, others);
    }
    return fields;
  }

  /** The object types of an interface or a union. */
  members(node: InterfaceNode | UnionNode): readonly ObjectNode[] {
    if (node.kind === "interface")
      return this.nodes().filter((type) => type.kind === "object" && interfacesOf(type).includes(node)) as ObjectNode[];
    return node.types.map((ref) => {
      const member = this.resolve(node.name, ref);
      if (member.kind === "object") return member;
      throw new ResolverError(node.name, "a union may only contain object types");
    });
  }

  #walk(): void {
    for (let next = this.#queue.pop(); next !== undefined; next = this.#queue.pop()) this.#visit(...next);
  }

  #visit(place: string, ref: AnyRef): void {
    const node = nodeOf(place, ref);
    if (node.kind === "ref") return;
    if ("of" in node) {
      this.#queue.push([place, node.of]);
      return;
    }
    const other = this.#byName.get(node.name);
    if (other === node) return;
    if (other !== undefined) {
      if (other.kind === "scalar" && node.kind === "scalar" && other.type === node.type) return;
      const advice = [node, other].map((one) => ("advice" in one ? `. ${one.advice}` : "")).find((text) => text !== "");
      throw new ResolverError(place, `there are two types named ${node.name}${advice ?? ""}`);
    }
    this.#byName.set(node.name, node);
    this.#enqueueDirectives(node.name, node.directives);
    if (node.kind === "enum")
      for (const value of Object.values(node.values)) this.#enqueueDirectives(node.name, value.directives);
    if (node.kind === "input") for (const [key, arg] of node.fields) this.#enqueueArg(`${node.name}.${key}`, arg);
    if (node.kind === "union") for (const type of node.types) this.#queue.push([node.name, type]);
    if (node.kind === "object" || node.kind === "interface") this.#visitFields(node);
  }

  #visitFields(node: ObjectNode | InterfaceNode): void {
    for (const ref of node.interfaces) this.#queue.push([node.name, ref]);
    for (const [key, member] of Object.entries(this.fieldsOf(node))) {
      const place = `${node.name}.${key}`;
      if (isDeclaration(member)) this.#enqueueField(place, member);
      else this.#queue.push([place, member]);
    }
  }

  #enqueueField(place: string, { type, params, options }: FieldDeclaration): void {
    this.#queue.push([place, type]);
    this.#enqueueDirectives(place, options.directives);
    for (const arg of params.args) this.#enqueueArg(`${place}(${arg.name ?? arg.key}:)`, arg);
  }

  #enqueueArg(place: string, { type, directives }: ArgNode): void {
    this.#queue.push([place, type]);
    this.#enqueueDirectives(place, directives);
  }

  #enqueueDirectives(place: string, applied: readonly AppliedDirective[] = []): void {
    for (const { directive } of applied) {
      if (!this.directives.add(place, directive)) continue;
      for (const [key, arg] of directive.args) this.#enqueueArg(`@${directive.name}(${key}:)`, arg);
    }
  }
}

/** The name of a field in the schema. */
function nameOf(key: string, member: Member): string {
  return (isDeclaration(member) && member.options.name) || key;
}
