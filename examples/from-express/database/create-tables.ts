import { hashPassword } from "./passwords.ts";
import { prisma, schema } from "./prisma.ts";

const TABLES = [
  `create schema if not exists ${schema}`,
  `create table if not exists people (
     id text primary key, email text not null unique, name text not null, role text not null, "passwordHash" text not null)`,
  `create table if not exists tickets (
     id serial primary key, "authorId" text not null references people, title text not null,
     status text not null default 'open', "createdAt" timestamptz(6) not null default now())`,
  `create index if not exists tickets_newest on tickets ("createdAt", id)`,
  `create index if not exists tickets_of_author on tickets ("authorId", "createdAt", id)`,
  `create table if not exists comments (
     id serial primary key, "ticketId" integer not null references tickets, "authorId" text not null references people,
     body text not null)`,
  `create index if not exists comments_of_ticket on comments ("ticketId", id)`,
];

/** Creates the tables, and on the first start two customers and an agent with 40 imported tickets. */
export async function createTables(): Promise<void> {
  for (const statement of TABLES) await prisma.$executeRawUnsafe(statement);
  if ((await prisma.person.count()) > 0) return;
  const people = [
    { id: "ann", email: "ann@example.com", name: "Ann", role: "customer" },
    { id: "bob", email: "bob@example.com", name: "Bob", role: "customer" },
    { id: "eve", email: "eve@example.com", name: "Eve", role: "agent" },
  ];
  const passwordHash = await hashPassword("correct horse");
  await prisma.person.createMany({ data: people.map((person) => ({ ...person, passwordHash })) });
  // Like any bulk import, it writes several rows in a millisecond.
  await prisma.$executeRaw`
    insert into tickets ("authorId", title, "createdAt")
    select case when i % 4 = 0 then 'bob' else 'ann' end, 'Ticket ' || i, timestamptz '2026-01-05 09:00Z' + i * interval '300 microseconds'
    from generate_series(1, 40) i order by i`;
  await prisma.$executeRaw`
    insert into comments ("ticketId", "authorId", body)
    select id, 'eve', 'Comment ' || n || ' on ' || title from tickets, generate_series(1, 2) n order by id, n`;
}
