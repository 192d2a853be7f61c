import type { GraphQLSchema } from "graphql";
import { type LogOptions, PorticoApp } from "portico";
import { AuthenticationMiddleware } from "portico/auth";
import { Graph, schema } from "portico/graphql";
import { HeaderBackend, Member } from "./member.ts";
import { mutations } from "./mutations.ts";
import { queries } from "./queries.ts";
import { routes } from "./routes.ts";
import { subscriptions } from "./subscriptions.ts";

export const trackerSchema: GraphQLSchema = schema({
  query: queries,
  mutation: mutations,
  subscription: subscriptions,
});

/** A multi-tenant issue tracker that leaves the separation of its tenants to rules. */
export function trackerApp(logger: LogOptions | false = false): PorticoApp {
  const app = new PorticoApp({ logger });
  app.use(new AuthenticationMiddleware({ userModel: Member, backend: [new HeaderBackend()] }));
  new Graph(trackerSchema, {
    limits: { cost: 100_000, aliases: 300, fields: 3000, breadth: 200 },
    subscriptions: { operations: true, connectsPerMinute: 0, messagesPerSecond: 0 },
  }).mount(app);
  app.mount("/api", routes());
  return app;
}
