import { Router } from "portico";
import { tableHandler } from "portico/sql";
import * as z from "zod";
import { database } from "../database.ts";

const Author = z.object({ id: z.string(), name: z.string(), born: z.number().nullable() });

/** The routes under /authors. */
export function authorRoutes(): Router {
  const router = new Router();
  router.get(
    "/",
    { paginated: { strategy: "limit_offset", item: Author }, summary: "Lists the authors by name", tags: ["authors"] },
    ({ response }) =>
      response.apaginate(tableHandler(database.replica().selectFrom("authors").selectAll().orderBy("name")), {
        strategy: "limit_offset",
      }),
  );
  return router;
}
