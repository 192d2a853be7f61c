import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "./generated/client.ts";

/** Opens a generated client with the options of a pool of `pg`. Prisma names the schema of its tables itself. */
export function openPrisma(config: { readonly options: string }): PrismaClient {
  const schema = config.options.replace("-c search_path=", "");
  return new PrismaClient({ adapter: new PrismaPg(config, { schema }) });
}
