// Exports the members of `t` and nothing else, because editors list all of them after the dot.
export { arg } from "../references/arg.ts";
export { directive } from "./directive.ts";
export { enumOf as enum } from "./enum-type.ts";
export { input, oneOf } from "./input-type.ts";
export { interfaceOf as interface } from "./interface-type.ts";
export { list, nullable, optional, ref } from "./list-type.ts";
export { scalar } from "./scalar.ts";
export { boolean, dateTime, float, id, int, json, string, upload } from "./scalars.ts";
export { union } from "./union-type.ts";
