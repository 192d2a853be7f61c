import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { useServer } from "graphql-ws/use/ws";
import { createPubSub, createSchema, createYoga } from "graphql-yoga";
import { WebSocketServer } from "ws";
import { obey } from "./obey.ts";

const pubSub = createPubSub<{ tick: [{ n: number; title: string }] }>();
const schema = createSchema({
  typeDefs: "type Query { a: Int! } type Tick { n: Int! title: String! } type Subscription { live: Tick! }",
  resolvers: {
    Query: { a: () => 1 },
    Subscription: { live: { subscribe: () => pubSub.subscribe("tick"), resolve: (event: unknown) => event } },
  },
});
const yoga = createYoga({ schema, logging: false });
const server = createServer((request, response) => void yoga(request, response));

// As its guide sets it up: Yoga's plugins run for every operation and event.
const sockets = new WebSocketServer({ server, path: yoga.graphqlEndpoint });
useServer(
  {
    execute: (args: any) => args.rootValue.execute(args),
    subscribe: (args: any) => args.rootValue.subscribe(args),
    async onSubscribe(ctx: any, _id: string, params: any) {
      const {
        schema: enveloped,
        execute,
        subscribe,
        contextFactory,
        parse,
        validate,
      } = yoga.getEnveloped({
        ...ctx,
        req: ctx.extra.request,
        socket: ctx.extra.socket,
        params,
      });
      const args = {
        schema: enveloped,
        operationName: params.operationName,
        document: parse(params.query),
        variableValues: params.variables,
        contextValue: await contextFactory(),
        rootValue: { execute, subscribe },
      };
      const errors = validate(args.schema, args.document);
      return errors.length > 0 ? errors : args;
    },
  },
  sockets,
);
server.listen(0, "127.0.0.1", () => {
  obey((server.address() as AddressInfo).port, (n) => pubSub.publish("tick", { n, title: `event ${n}` }));
});
