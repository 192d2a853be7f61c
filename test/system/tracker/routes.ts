import { Depend, NotFound, Router } from "portico";
import { LimitOffsetPagination, PageNumberPagination } from "portico/pagination";
import * as z from "zod";
import { database, unitOfWork } from "./database.ts";
import { byName, comments, issueList, issues, newest, projects } from "./lists.ts";
import { visibleComments, visibleIssues, visibleLabels, visibleProjects } from "./rules.ts";

const moment = z.date().transform((at) => at.toISOString());
const Project = z.object({ id: z.string(), name: z.string(), created_at: moment });
const Issue = z.object({ id: z.string(), title: z.string(), estimate: z.int(), created_at: moment });
const Comment = z.object({ id: z.string(), text: z.string() });
const Label = z.object({ id: z.string(), name: z.string(), colour: z.string() });
const byNumber: PageNumberPagination = new PageNumberPagination({ defaultPageSize: 5, totals: "exact" });
const byOffset: LimitOffsetPagination = new LimitOffsetPagination({ defaultLimit: 5, totals: "exact" });

const row = (table: "projects" | "issues" | "comments", id: string): Promise<any> =>
  database.selectFrom(table).selectAll().where("id", "=", id).executeTakeFirst();

/** The REST routes. No query of theirs is restricted to the caller's tenant. */
export function routes(): Router<any> {
  const router = new Router({ auth: true });
  router.get("/projects/:id", async ({ ctx, path }) =>
    Project.parse(await ctx.authorize(visibleProjects, await row("projects", path.id))),
  );
  router.get("/issues/:id", async ({ ctx, path }) =>
    Issue.parse(await ctx.authorize(visibleIssues, await row("issues", path.id))),
  );
  router.get("/comments/:id", async ({ ctx, path }) =>
    Comment.parse(await ctx.authorize(visibleComments, await row("comments", path.id))),
  );
  router.get("/issues/:id/visible", async ({ ctx, path }) => ({
    visible: await ctx.can(visibleIssues, await row("issues", path.id)),
  }));
  router.patch("/issues/:id", { params: { trx: Depend(unitOfWork) } }, async ({ ctx, path, trx }) => {
    const changed = await trx
      .updateTable("issues")
      .set({ title: `patched by ${ctx.user.identity}` })
      .where("id", "=", path.id)
      .returningAll()
      .executeTakeFirst();
    if (changed === undefined) throw new NotFound();
    // The check comes after the change, so the rollback protects other tenants.
    return Issue.parse(await ctx.authorize(visibleIssues, changed));
  });

  router.get("/projects", { paginated: { strategy: byName, item: Project, rule: visibleProjects } }, ({ response }) =>
    response.apaginate(projects(), { strategy: byName }),
  );
  router.get("/issues", { paginated: { strategy: byNumber, item: Issue, rule: visibleIssues } }, ({ response }) =>
    response.apaginate(issues(), { strategy: byNumber }),
  );
  router.get("/comments", { paginated: { strategy: newest, item: Comment, rule: visibleComments } }, ({ response }) =>
    response.apaginate(comments(), { strategy: newest }),
  );
  router.get(
    "/issue-list",
    { paginated: { strategy: byOffset, item: Issue, rule: visibleIssues } },
    async ({ response }) => response.paginate(await issueList({}, 10_000), { strategy: byOffset }),
  );
  router.get("/labels", { paginated: { strategy: byNumber, item: Label, rule: visibleLabels } }, async ({ response }) =>
    response.paginate(await database.selectFrom("labels").selectAll().orderBy("colour").execute(), {
      strategy: byNumber,
    }),
  );
  return router;
}
