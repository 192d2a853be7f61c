import fastify from "fastify";
import mercurius from "mercurius";
import { report } from "../graphql/report.ts";
import { resolvers, typeDefs } from "./schema.js";

const app = fastify();
await app.register(mercurius, { schema: typeDefs, resolvers, jit: process.argv[2] === "jit" ? 1 : 0 });
await app.listen({ port: 0, host: "127.0.0.1" });
report(app.server.address().port);
