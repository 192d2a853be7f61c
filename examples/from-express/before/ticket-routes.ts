import { Router } from "express";
import { prisma } from "../database/prisma.ts";
import { HttpError } from "./http-error.ts";
import { personOf } from "./tokens.ts";

export const ticketRoutes: Router = Router();

ticketRoutes.get("/tickets/:id", async (request, response) => {
  const person = await personOf(request.headers.authorization);
  if (person === null) throw new HttpError(401, "Authentication required");
  const id = Number(request.params.id);
  const ticket = Number.isInteger(id) ? await prisma.ticket.findUnique({ where: { id } }) : null;
  if (ticket === null || (person.role !== "agent" && ticket.authorId !== person.id))
    throw new HttpError(404, "Not found");
  response.json(ticket);
});

ticketRoutes.get("/tickets.csv", async (request, response) => {
  const person = await personOf(request.headers.authorization);
  if (person === null) throw new HttpError(401, "Authentication required");
  const tickets = await prisma.ticket.findMany({
    where: person.role === "agent" ? {} : { authorId: person.id },
    orderBy: { id: "asc" },
  });
  const rows = tickets.map(({ id, title, status }) => `${id},"${title.replaceAll('"', '""')}",${status}\n`);
  response.type("text/csv").send(`id,title,status\n${rows.join("")}`);
});
