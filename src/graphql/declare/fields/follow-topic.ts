import type { GraphQLSchema } from "graphql";
import { isInstance } from "../../../core/describe-error.ts";
import { notDurable, outboxFor } from "../../../stores/outbox.ts";
import { PubSubGap } from "../../../stores/pub-sub.ts";
import { Positions, positionRefused } from "../../operation/positions.ts";
import type { Finish } from "./field-declaration.ts";
import type { TopicOf } from "./field-options.ts";

/** The name is long, because applications have extensions too. */
const RESUMES = "portico.resumes";

/** The extension of a subscription that clients can resume. */
export function resumeExtensions(from: TopicOf | undefined): Readonly<Record<string, true>> {
  return from === undefined ? {} : { [RESUMES]: true };
}

/** Whether a schema has a subscription that clients can resume, with positions that are encrypted. */
export function hasResumable(schema: GraphQLSchema): boolean {
  const fields = Object.values(schema.getSubscriptionType()?.getFields() ?? {});
  return fields.some(({ extensions }) => extensions[RESUMES] === true);
}

/** Returns the events of a durable topic, after the position that the client has sent. */
export function followTopic(from: TopicOf): Finish {
  return async ({ resolve, args, graph, info }) => {
    const ctx = graph.connection;
    const topic = from(args, { ctx });
    if (topic?.keep === undefined) throw notDurable("subscription.from", topic);
    graph.mapEvent = (event, now) => resolve(event, now);
    const positions = new Positions(ctx.services.paging.keys, info.fieldName, args);
    const after = graph.resumeAfter === null ? null : positions.open(graph.resumeAfter);
    const events = await outboxFor(ctx.services.stores.bus, topic)
      .follow(topic, after, ctx.signal)
      .catch((error: unknown) => {
        if (after === null || !isInstance(error, PubSubGap)) throw error;
        throw positionRefused("The events after this position are no longer available", error);
      });
    graph.followed = positions.of(events);
    return { [Symbol.asyncIterator]: () => events };
  };
}
