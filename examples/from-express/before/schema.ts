import SchemaBuilder from "@pothos/core";
import { GraphQLError, type GraphQLSchema } from "graphql";
import { prisma } from "../database/prisma.ts";
import type { Comment, Person, Ticket } from "../generated/client.ts";
import { type TicketPage, ticketPage } from "./ticket-page.ts";

interface Context {
  readonly person: Person | null;
}

const builder = new SchemaBuilder<{
  Context: Context;
  Objects: { Person: Person; Ticket: Ticket; Comment: Comment; TicketPage: TicketPage };
}>({});

function signedIn({ person }: Context): Person {
  if (person !== null) return person;
  throw new GraphQLError("Authentication required", { extensions: { code: "UNAUTHENTICATED" } });
}

builder.objectType("Person", {
  fields: (t) => ({ id: t.exposeID("id"), name: t.exposeString("name"), role: t.exposeString("role") }),
});
builder.objectType("Comment", {
  fields: (t) => ({ id: t.exposeID("id"), body: t.exposeString("body") }),
});
builder.objectType("Ticket", {
  fields: (t) => ({
    id: t.exposeID("id"),
    title: t.exposeString("title"),
    status: t.exposeString("status"),
    comments: t.field({
      type: ["Comment"],
      resolve: ({ id }) => prisma.comment.findMany({ where: { ticketId: id }, orderBy: { id: "asc" } }),
    }),
  }),
});
builder.objectType("TicketPage", {
  fields: (t) => ({
    nodes: t.expose("nodes", { type: ["Ticket"] }),
    nextCursor: t.exposeString("nextCursor", { nullable: true }),
  }),
});

builder.queryType({
  fields: (t) => ({
    me: t.field({ type: "Person", nullable: true, resolve: (_parent, _args, { person }) => person }),
    ticket: t.field({
      type: "Ticket",
      nullable: true,
      args: { id: t.arg.int({ required: true }) },
      resolve: async (_parent, { id }, context) => {
        const person = signedIn(context);
        const ticket = await prisma.ticket.findUnique({ where: { id } });
        return person.role === "agent" || ticket?.authorId === person.id ? ticket : null;
      },
    }),
    tickets: t.field({
      type: "TicketPage",
      nullable: true,
      args: { first: t.arg.int({ defaultValue: 20 }), after: t.arg.string() },
      resolve: (_parent, { first, after }, context) => ticketPage(signedIn(context), first ?? 20, after ?? null),
    }),
  }),
});

builder.mutationType({
  fields: (t) => ({
    createTicket: t.field({
      type: "Ticket",
      nullable: true,
      args: { title: t.arg.string({ required: true }) },
      resolve: (_parent, { title }, context) =>
        prisma.ticket.create({ data: { title, authorId: signedIn(context).id } }),
    }),
  }),
});

export const schema: GraphQLSchema = builder.toSchema();
