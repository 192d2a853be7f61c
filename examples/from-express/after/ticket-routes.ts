import { Router } from "express";
import { walk } from "portico/pagination";
import { prisma } from "../database/prisma.ts";
import { app } from "./app.ts";
import { ticketsOf, visibleTickets } from "./tickets.ts";

export const ticketRoutes: Router = Router();

ticketRoutes.get("/tickets/:id", async (request, response) => {
  const ctx = await app.identify(request, response, { auth: true });
  const id = Number(request.params.id);
  const ticket = Number.isInteger(id) ? await prisma.ticket.findUnique({ where: { id } }) : null;
  response.json(await ctx.authorize(visibleTickets, ticket));
});

ticketRoutes.get("/tickets.csv", async (request, response) => {
  const { user } = await app.identify(request, response, { auth: true });
  response.type("text/csv").write("id,title,status\n");
  for await (const { items } of walk(ticketsOf(user), { size: 500 })) {
    const rows = items.map(({ id, title, status }) => `${id},"${title.replaceAll('"', '""')}",${status}\n`);
    response.write(rows.join(""));
  }
  response.end();
});
