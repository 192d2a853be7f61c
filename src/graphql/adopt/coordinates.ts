import { type GraphQLSchema, isInterfaceType, isNonNullType, isObjectType } from "graphql";
import { didYouMean } from "../../core/advice/did-you-mean.ts";
import { ConfigurationError } from "../../core/configuration-error.ts";
import { allGates, type GateNode } from "../../kernel/access/gate-node.ts";
import { authRule, checkNeedsNoObject, readGate, type WrittenAuth } from "../../kernel/access/read-gate.ts";

/** The gates of a schema by coordinate, such as `Query.orders` or `Order`. Those of an interface count for its objects too. */
export class Coordinates {
  readonly #schema: GraphQLSchema;
  readonly #gates = new Map<string, GateNode>();

  /** Throws `ConfigurationError` for a coordinate that the schema does not have, and for one that cannot have a gate. */
  constructor(schema: GraphQLSchema, rules: Readonly<Record<string, WrittenAuth>>) {
    this.#schema = schema;
    for (const [coordinate, auth] of Object.entries(rules)) {
      const place = `Graph.rules[${JSON.stringify(coordinate)}]`;
      const gate = readGate(place, checkedAuth(place, auth));
      this.#check(place, coordinate, gate);
      if (gate !== null) this.#gates.set(coordinate, gate);
    }
  }

  get isEmpty(): boolean {
    return this.#gates.size === 0;
  }

  /** The gate of the objects of a type; `null` if it has none. */
  ofType(type: string): GateNode | null {
    return this.#withInterfaces(type, (name) => name);
  }

  /** The gate of a field; `null` if it has none. */
  ofField(type: string, field: string): GateNode | null {
    return this.#withInterfaces(type, (name) => `${name}.${field}`);
  }

  #withInterfaces(type: string, coordinate: (type: string) => string): GateNode | null {
    const found = this.#schema.getType(type);
    if (!isObjectType(found)) return null;
    const names = [type, ...found.getInterfaces().map(({ name }) => name)];
    return allGates(names.map((name) => this.#gates.get(coordinate(name))).filter((gate) => gate !== undefined));
  }

  #check(place: string, coordinate: string, gate: GateNode | null): void {
    const [name = "", field] = coordinate.split(".");
    const type = this.#schema.getType(name);
    if (!isObjectType(type) && !isInterfaceType(type)) throw unknown(place, coordinate, this.#coordinates());
    const roots = [this.#schema.getQueryType(), this.#schema.getMutationType(), this.#schema.getSubscriptionType()];
    const isRoot = roots.some((root) => root?.name === name);
    if (field === undefined) {
      if (isRoot) throw new ConfigurationError(place, `is a root type: name its fields, or set Graph.auth`);
      return;
    }
    const found = type.getFields()[field];
    if (found === undefined) throw unknown(place, coordinate, this.#coordinates());
    if (isRoot && gate !== null) checkNeedsNoObject(place, gate, "name the object type instead");
    if (isNonNullType(found.type) && !(isRoot && SUBGRAPH_FIELDS.has(field)))
      throw new ConfigurationError(
        place,
        `cannot guard a field of the type ${String(found.type)}: a refused caller receives null, so make the field nullable`,
      );
  }

  #coordinates(): readonly string[] {
    return Object.values(this.#schema.getTypeMap())
      .filter((type) => (isObjectType(type) || isInterfaceType(type)) && !type.name.startsWith("__"))
      .flatMap((type) => [
        type.name,
        ...Object.keys((type as { getFields(): object }).getFields()).map((field) => `${type.name}.${field}`),
      ]);
  }
}

/** The federation specification makes these non-null. A router selects them alone, so a refusal may remove all data. */
const SUBGRAPH_FIELDS: ReadonlySet<string> = new Set(["_service", "_entities"]);

function checkedAuth(place: string, auth: unknown): WrittenAuth {
  const read = authRule.read(auth);
  if (typeof read === "symbol") throw new ConfigurationError(place, authRule.expected, auth);
  return read;
}

function unknown(place: string, coordinate: string, known: readonly string[]): ConfigurationError {
  const hint = didYouMean(coordinate, known);
  return new ConfigurationError(
    place,
    `names no object type, interface or field of the schema${hint === null ? "" : `. ${hint}`}`,
  );
}
