import type { AddressInfo } from "node:net";
import express from "express";
import { createTables } from "../database/create-tables.ts";
import { prisma } from "../database/prisma.ts";
import { app } from "./app.ts";
import { sendError } from "./send-error.ts";
import { ticketRoutes } from "./ticket-routes.ts";

const site = express();
site.use(ticketRoutes);
site.use(sendError);
site.use(app.handler);

await createTables();
const server = site.listen(Number(process.env["PORT"] ?? 3000), "127.0.0.1", () =>
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once("SIGTERM", () => server.close(() => void app.close().then(() => prisma.$disconnect())));
