import type { Dependency } from "../../dependencies/depend.ts";
import { callbackTransaction } from "../database/callback-transaction.ts";
import type { PrismaQueries } from "./prisma-dialect.ts";

/** The method of a `PrismaClient` that transactions are started with. */
export interface PrismaTransactions<Tx> {
  $transaction(work: (tx: Tx) => Promise<any>, settings?: any): Promise<any>;
}

/**
 * A dependency that is a Prisma transaction of the request or operation. It is committed after the handler or the last
 * field, and before the response is sent. A failed request or operation rolls it back. Events that are published
 * meanwhile are held until the commit, and dropped after a rollback. Those of durable topics are written in the transaction.
 *
 * @param settings the second argument of `$transaction`. By default, Prisma ends a transaction after five seconds
 *
 * @example
 * ```ts
 * import { PorticoApp } from "portico";
 * import { prismaTransaction } from "portico/sql";
 *
 * interface Tx {
 *   book: { delete(of: { where: { id: string } }): Promise<unknown> };
 * }
 * declare const prisma: { $transaction(work: (tx: Tx) => Promise<any>): Promise<any> }; // your PrismaClient
 * const inTransaction = prismaTransaction(prisma, { timeout: 10_000 });
 *
 * new PorticoApp().delete("/books/:id", { params: { tx: inTransaction } }, async ({ tx, path }) => {
 *   await tx.book.delete({ where: { id: path.id } });
 * });
 * ```
 */
export function prismaTransaction<Tx>(prisma: PrismaTransactions<Tx>, settings?: object): Dependency<Tx> {
  return callbackTransaction(
    (work) => prisma.$transaction(work, settings),
    (tx) => async (text, parameters) =>
      ((await (tx as PrismaQueries).$queryRawUnsafe(text, ...parameters)) as readonly unknown[]).length,
  );
}
