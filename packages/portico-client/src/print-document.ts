/** A node of a parsed document, as far as the printer reads it. */
interface GraphQLNode {
  readonly kind: string;
  readonly [member: string]: unknown;
}

/** Returns the text of a document: a string as it is, a parsed document printed without needless spaces. */
export function printDocument(document: unknown): string {
  const { kind } = document as { readonly kind?: unknown };
  return kind === "Document" ? print(document as GraphQLNode) : String(document);
}

type Printer = (node: any) => string;

// The kinds of nodes that an executable document can have.
const PRINTERS: Readonly<Record<string, Printer>> = {
  Document: ({ definitions }) => all(definitions, "\n"),
  OperationDefinition: ({ operation, name, variableDefinitions, directives, selectionSet }) =>
    operation + before(" ", name) + list(variableDefinitions) + applied(directives) + print(selectionSet),
  VariableDefinition: ({ variable, type, defaultValue, directives }) =>
    `${print(variable)}:${print(type)}${before("=", defaultValue)}${applied(directives)}`,
  Variable: ({ name }) => `$${print(name)}`,
  SelectionSet: ({ selections }) => `{${all(selections, " ")}}`,
  Field: ({ alias, name, arguments: args, directives, selectionSet }) =>
    (alias ? `${print(alias)}:` : "") + print(name) + list(args) + applied(directives) + before("", selectionSet),
  Argument: ({ name, value }) => `${print(name)}:${print(value)}`,
  FragmentSpread: ({ name, directives }) => `...${print(name)}${applied(directives)}`,
  InlineFragment: ({ typeCondition, directives, selectionSet }) =>
    `...${before("on ", typeCondition)}${applied(directives)}${print(selectionSet)}`,
  FragmentDefinition: ({ name, typeCondition, directives, selectionSet }) =>
    `fragment ${print(name)} on ${print(typeCondition)}${applied(directives)}${print(selectionSet)}`,
  Directive: ({ name, arguments: args }) => ` @${print(name)}${list(args)}`,
  NamedType: ({ name }) => print(name),
  ListType: ({ type }) => `[${print(type)}]`,
  NonNullType: ({ type }) => `${print(type)}!`,
  // JSON escapes every character that GraphQL wants escaped, in the same way.
  StringValue: ({ value }) => JSON.stringify(value),
  ListValue: ({ values }) => `[${all(values, " ")}]`,
  ObjectValue: ({ fields }) => `{${all(fields, " ")}}`,
  ObjectField: ({ name, value }) => `${print(name)}:${print(value)}`,
  NullValue: () => "null",
};

/** A name, a number, a boolean and an enum value are their own text. */
function print(node: GraphQLNode): string {
  return PRINTERS[node.kind]?.(node) ?? String(node["value"]);
}

function all(nodes: readonly GraphQLNode[] | undefined, between: string): string {
  return (nodes ?? []).map(print).join(between);
}

function list(nodes: readonly GraphQLNode[] | undefined): string {
  return nodes?.length ? `(${all(nodes, " ")})` : "";
}

function applied(directives: readonly GraphQLNode[] | undefined): string {
  return all(directives, "");
}

function before(text: string, node: GraphQLNode | undefined): string {
  return node ? text + print(node) : "";
}
