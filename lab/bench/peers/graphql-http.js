import { createServer } from "node:http";
import { buildSchema } from "graphql";
import { createHandler } from "graphql-http/lib/use/http";
import { report } from "../graphql/report.ts";
import { resolve, typeDefs } from "./schema.js";

const handle = createHandler({ schema: resolve(buildSchema(typeDefs)) });
const server = createServer((request, response) => void handle(request, response));
server.listen(0, "127.0.0.1", () => report(server.address().port));
