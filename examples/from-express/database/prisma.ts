import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "../generated/client.ts";

const connectionString = process.env["DATABASE_URL"] ?? "postgres://postgres@127.0.0.1:5432/test";
/** The schema of the application's tables: `?schema=` of the URL, as Prisma names it. */
export const schema: string = new URL(connectionString).searchParams.get("schema") ?? "helpdesk";

// Prisma writes the schema into its statements. Raw statements use the search path.
const adapter = new PrismaPg({ connectionString, options: `-c search_path=${schema}` }, { schema });
export const prisma: PrismaClient = new PrismaClient({ adapter });
