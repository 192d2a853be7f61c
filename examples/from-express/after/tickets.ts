import { Kysely } from "kysely";
import { isEqual, isIn, not, rule } from "portico";
import { CursorPagination } from "portico/pagination";
import { prismaDialect, type TableHandler, tableHandler } from "portico/sql";
import { prisma } from "../database/prisma.ts";
import type { Ticket } from "../generated/client.ts";
import type { PersonUser } from "./person-user.ts";

const database = new Kysely<{ tickets: Ticket }>({ dialect: prismaDialect(prisma) });

const visibleTo = (user: PersonUser) =>
  user.hasPermission("read:tickets") ? not(isIn("id", [])) : isEqual("authorId", user.identity);

/** Agents see all tickets, customers their own. */
export const visibleTickets = rule<Ticket>({
  name: "ticket.visible",
  allows: (user, ticket) => user.hasPermission("read:tickets") || ticket.authorId === user.identity,
  where: visibleTo,
});

export const newest = new CursorPagination({ order: [["createdAt", "desc"]], maxPageSize: 50, overMax: "reject" });

export const allTickets = (): TableHandler<Ticket> => tableHandler(database.selectFrom("tickets").selectAll());

/** The tickets that a user may see, for code that reads them outside of a page. */
export const ticketsOf = (user: PersonUser): TableHandler<Ticket> => allTickets().scopedTo(visibleTo(user));
