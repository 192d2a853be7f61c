import { GraphQLError } from "graphql";
import { prisma } from "../database/prisma.ts";
import type { Person, Ticket } from "../generated/client.ts";

export interface TicketPage {
  readonly nodes: Ticket[];
  readonly nextCursor: string | null;
}

const MAX_PAGE_SIZE = 50;

/** Returns the newest tickets that the person may see, after a cursor. */
export async function ticketPage(person: Person, first: number, after: string | null): Promise<TicketPage> {
  if (first < 1 || first > MAX_PAGE_SIZE) throw badInput(`first must be from 1 to ${MAX_PAGE_SIZE}`);
  const own = person.role === "agent" ? {} : { authorId: person.id };
  const place = after === null ? null : openCursor(after);
  const nodes = await prisma.ticket.findMany({
    where:
      place === null
        ? own
        : {
            AND: [
              own,
              {
                OR: [{ createdAt: { lt: place.createdAt } }, { createdAt: place.createdAt, id: { lt: place.id } }],
              },
            ],
          },
    orderBy: [{ createdAt: "desc" }, { id: "desc" }],
    take: first,
  });
  const last = nodes.at(-1);
  return { nodes, nextCursor: last === undefined || nodes.length < first ? null : cursorOf(last) };
}

function cursorOf({ createdAt, id }: Ticket): string {
  return Buffer.from(JSON.stringify([createdAt.toISOString(), id])).toString("base64url");
}

function openCursor(cursor: string): { readonly createdAt: Date; readonly id: number } {
  try {
    const [time, id] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as [string, number];
    const createdAt = new Date(time);
    if (Number.isInteger(id) && !Number.isNaN(createdAt.getTime())) return { createdAt, id };
  } catch {
    // Reported below, like a cursor with the wrong values.
  }
  throw badInput("after is not a valid cursor");
}

function badInput(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: "BAD_USER_INPUT" } });
}
