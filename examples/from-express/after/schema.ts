import SchemaBuilder from "@pothos/core";
import type { GraphQLSchema } from "graphql";
import { Depend, provide } from "portico";
import { AuthenticationFailed } from "portico/auth";
import { connectionResolver, inject, loader, type ResolvedConnection } from "portico/graphql";
import { prisma } from "../database/prisma.ts";
import type { Comment, Person, Ticket } from "../generated/client.ts";
import { allTickets, newest } from "./tickets.ts";

interface Context {
  readonly person: Person | null;
}

const builder = new SchemaBuilder<{
  Context: Context;
  Objects: { Person: Person; Ticket: Ticket; Comment: Comment; TicketPage: ResolvedConnection<Ticket> };
}>({});

const signedIn = provide(({ ctx: { user } }) => {
  if (user.isAuthenticated) return user;
  throw new AuthenticationFailed();
});

const commentsOf = loader(async (ticketIds: readonly number[]) => {
  const comments = await prisma.comment.findMany({
    where: { ticketId: { in: [...ticketIds] } },
    orderBy: { id: "asc" },
  });
  const byTicket = Map.groupBy(comments, ({ ticketId }) => ticketId);
  return ticketIds.map((id) => byTicket.get(id) ?? []);
});

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
      resolve: inject({}, ({ id }, _args, { ctx }) => commentsOf.load(ctx, id)),
    }),
  }),
});
builder.objectType("TicketPage", {
  fields: (t) => ({
    nodes: t.field({ type: ["Ticket"], resolve: async (page) => [...(await page.nodes())] }),
    nextCursor: t.string({
      nullable: true,
      resolve: async (page) => {
        const { hasNextPage, endCursor } = await page.pageInfo();
        return hasNextPage ? endCursor : null;
      },
    }),
  }),
});

builder.queryType({
  fields: (t) => ({
    me: t.field({ type: "Person", nullable: true, resolve: (_parent, _args, { person }) => person }),
    ticket: t.field({
      type: "Ticket",
      nullable: true,
      args: { id: t.arg.int({ required: true }) },
      resolve: (_parent, { id }) => prisma.ticket.findUnique({ where: { id } }),
    }),
    tickets: t.field({
      type: "TicketPage",
      nullable: true,
      args: { first: t.arg.int({ defaultValue: 20 }), after: t.arg.string() },
      resolve: connectionResolver(newest, allTickets),
    }),
  }),
});

builder.mutationType({
  fields: (t) => ({
    createTicket: t.field({
      type: "Ticket",
      nullable: true,
      args: { title: t.arg.string({ required: true }) },
      resolve: inject({ user: Depend(signedIn) }, (_parent, { title }, { user }) =>
        prisma.ticket.create({ data: { title, authorId: user.identity } }),
      ),
    }),
  }),
});

export const schema: GraphQLSchema = builder.toSchema();
