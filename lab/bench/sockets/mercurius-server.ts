import fastify from "fastify";
import mercurius from "mercurius";
import { obey } from "./obey.ts";

const app = fastify();
await app.register(mercurius, {
  schema: "type Query { a: Int! } type Tick { n: Int! title: String! } type Subscription { live: Tick! }",
  resolvers: {
    Query: { a: () => 1 },
    Subscription: {
      live: {
        subscribe: (_root: unknown, _args: unknown, { pubsub }: any) => pubsub.subscribe("tick"),
        resolve: (event: unknown) => event,
      },
    },
  } as never,
  subscription: true,
});
await app.listen({ port: 0, host: "127.0.0.1" });
const { port } = app.server.address() as { port: number };
obey(port, (n) => app.graphql.pubsub.publish({ topic: "tick", payload: { n, title: `event ${n}` } }));
