import type { GateFunction } from "./gate.ts";
import { type GateNode, isRequired } from "./gate-node.ts";

/** Says in words whom a gate lets in, for people who review an application: `permission read:audit`. */
export function describeGate(node: GateNode | null): string {
  if (node === null) return "anyone";
  switch (node.kind) {
    case "caller":
      return describeCaller(node);
    case "function":
      return `signed in, ${functionName(node.decide)}`;
    case "place":
      return node.name;
    case "rule":
      return node.rule.says === null ? `rule ${node.rule.name}` : `rule ${node.rule.name} (${node.rule.says})`;
    case "not":
      return `not (${describeGate(node.of)})`;
    case "every":
      return joined(node.of, "some", " and ");
    case "some":
      return joined(node.of, "every", " or ");
  }
}

/** Joins the members, each said once. That the caller is signed in goes without saying where another member requires it. */
function joined(nodes: readonly GateNode[], bracketed: GateNode["kind"], by: " and " | " or "): string {
  const words = nodes.map((node) => {
    if (node.kind === "function") return functionName(node.decide);
    return node.kind === bracketed ? `(${describeGate(node)})` : describeGate(node);
  });
  const said = [...new Set(words)];
  const others = said.filter((text) => text !== SIGNED_IN);
  const isImplied = by === " and " && nodes.some((node) => isRequired(node) && describeGate(node) !== SIGNED_IN);
  return (isImplied ? others : said).join(by);
}

/** A function that is written in place has the name of the option. */
function functionName({ name }: GateFunction): string {
  return name === "" || name === "auth" ? "a function" : `${name}()`;
}

const SIGNED_IN = "signed in";

function describeCaller({ required, scopes, requires }: GateNode & { readonly kind: "caller" }): string {
  if (requires === null) return required ? "signed in, a check of the application" : "a check of the application";
  const { permissions, freshSeconds, level } = requires;
  const named = permissions.length === 1 ? "permission" : "permissions";
  const who = permissions.length === 0 ? SIGNED_IN : `${named} ${permissions.join(" and ")}`;
  const by = scopes.length === 0 ? "" : ` by ${scopes.join(" or ")}`;
  const since = freshSeconds === undefined ? "" : ` within the last ${freshSeconds} s`;
  const factors = level === undefined ? "" : " with a second factor";
  const words = `${who}${by}${factors}${since}`;
  if (required) return words;
  return words === SIGNED_IN ? "anyone" : `anonymous, or ${words}`;
}
