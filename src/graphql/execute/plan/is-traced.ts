import { tracingChannel } from "node:diagnostics_channel";
import { isGraphql17 } from "../../selection/is-graphql17.ts";

/** The channels on which graphql 17 reports an execution. */
const channels = (
  isGraphql17 ? ["execute", "execute:variableCoercion", "execute:rootSelectionSet", "resolve"] : []
).map((name) => tracingChannel(`graphql:${name}`));

/** Whether a monitoring tool listens to graphql's executions, so that graphql has to execute operations itself. */
export function isTraced(): boolean {
  for (const channel of channels) if (channel.hasSubscribers) return true;
  return false;
}
