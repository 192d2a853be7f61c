import { ApolloServer } from "@apollo/server";
import { startStandaloneServer } from "@apollo/server/standalone";
import { report } from "../graphql/report.ts";
import { resolvers, typeDefs } from "./schema.js";

const { url } = await startStandaloneServer(new ApolloServer({ typeDefs, resolvers }), {
  listen: { port: 0, host: "127.0.0.1" },
});
report(Number(new URL(url).port));
