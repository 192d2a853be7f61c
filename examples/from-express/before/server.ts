import type { AddressInfo } from "node:net";
import express from "express";
import { createYoga } from "graphql-yoga";
import { createTables } from "../database/create-tables.ts";
import { prisma } from "../database/prisma.ts";
import { sendError } from "./http-error.ts";
import { loginRoute } from "./login-route.ts";
import { schema } from "./schema.ts";
import { ticketRoutes } from "./ticket-routes.ts";
import { personOf } from "./tokens.ts";

const yoga = createYoga({
  schema,
  batching: true,
  context: async ({ request }) => ({ person: await personOf(request.headers.get("authorization")) }),
});

const site = express();
site.use(loginRoute);
site.use(ticketRoutes);
site.use("/graphql", yoga);
site.use(sendError);

await createTables();
const server = site.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once("SIGTERM", () => server.close(() => void prisma.$disconnect()));
