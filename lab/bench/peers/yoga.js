import { createServer } from "node:http";
import { useGraphQlJit } from "@envelop/graphql-jit";
import { createSchema, createYoga } from "graphql-yoga";
import { report } from "../graphql/report.ts";
import { resolvers, typeDefs } from "./schema.js";

const yoga = createYoga({
  schema: createSchema({ typeDefs, resolvers }),
  logging: false,
  plugins: process.argv[2] === "jit" ? [useGraphQlJit()] : [],
});
const server = createServer((request, response) => void yoga(request, response));
server.listen(0, "127.0.0.1", () => report(server.address().port));
