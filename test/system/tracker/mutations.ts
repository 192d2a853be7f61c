import { randomUUID } from "node:crypto";
import { type BaseContext, Depend, NotFound, type Topic, topic } from "portico";
import { type FieldDef, mutation, type Params, t } from "portico/graphql";
import type { Transaction } from "portico/sql";
import { unitOfWork } from "./database.ts";
import { issueById, organisationOfIssue, projectById } from "./loaders.ts";
import { visibleComments, visibleIssues, visibleProjects } from "./rules.ts";
import type { CommentRow, IssueRow, ProjectRow, Tables } from "./tables.ts";
import { type AnyRow, Comment, Issue, Project, SearchHit } from "./types.ts";

export const issueChanged: Topic<string> = topic<string>("tracker.issue");
export const commentAdded: Topic<string> = topic<string>("tracker.comment");

type Trx = Transaction<Tables>;
const trx = Depend(unitOfWork);
const of = { id: t.id, trx } satisfies Params;

/** The row that a statement returned. A missing row fails as a refused one does. */
function present<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new NotFound();
  return row;
}

const rename = async (trx: Trx, id: string, name: string): Promise<ProjectRow> =>
  present(await trx.updateTable("projects").set({ name }).where("id", "=", id).returningAll().executeTakeFirst());

async function change(trx: Trx, ctx: BaseContext, id: string, values: Partial<IssueRow>): Promise<IssueRow> {
  const row = await trx.updateTable("issues").set(values).where("id", "=", id).returningAll().executeTakeFirst();
  await ctx.pubsub.publish(issueChanged, id);
  issueById.clear(ctx, id);
  return present(row);
}

async function comment(trx: Trx, ctx: BaseContext, issue: string, text: string): Promise<CommentRow> {
  const row = await trx
    .insertInto("comments")
    .values({
      id: randomUUID(),
      issue_id: issue,
      author_id: ctx.user.identity,
      text,
      files: "[]" as never,
      created_at: new Date(),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  await ctx.pubsub.publish(commentAdded, row.id);
  return row;
}

/** Without a check of their own: only the rule of the returned object protects the rows of other tenants. */
const unchecked = {
  renameProject: mutation(Project, { params: { ...of, name: t.string } })(({ trx, id, name }) => rename(trx, id, name)),
  renameProjects: mutation(t.list(Project), { params: { ids: t.list(t.id), name: t.string, trx } })(
    async ({ trx, ids, name }) => {
      const renamed: ProjectRow[] = [];
      for (const id of ids.toSorted()) renamed.push(await rename(trx, id, name));
      return renamed;
    },
  ),
  editIssue: mutation(Issue, { params: { ...of, title: t.string } })(({ trx, ctx, id, title }) =>
    change(trx, ctx, id, { title }),
  ),
  addComment: mutation(Comment, { params: { issue: t.id, text: t.string, trx } })(({ trx, ctx, issue, text }) =>
    comment(trx, ctx, issue, text),
  ),
  deleteIssue: mutation(Issue, { params: of })(async ({ trx, id }) => {
    await trx.deleteFrom("comments").where("issue_id", "=", id).execute();
    await trx.deleteFrom("issue_labels").where("issue_id", "=", id).execute();
    return present(await trx.deleteFrom("issues").where("id", "=", id).returningAll().executeTakeFirst());
  }),
  touch: mutation(SearchHit, { params: { ...of, text: t.string } })(async ({ trx, id, text }): Promise<AnyRow> => {
    const issue = await trx
      .updateTable("issues")
      .set({ body: text })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirst();
    return (
      issue ??
      present(await trx.updateTable("comments").set({ text }).where("id", "=", id).returningAll().executeTakeFirst())
    );
  }),
};

/** With a check before the change. */
const checked = {
  // The issue is checked before it moves, because the rule decides about the returned state. The project is not checked.
  moveIssue: mutation(Issue, { params: { ...of, project: t.id } })(async ({ trx, ctx, id, project }) => {
    await ctx.authorize(visibleIssues, await issueById.load(ctx, id));
    organisationOfIssue.clear(ctx);
    return change(trx, ctx, id, { project_id: project });
  }),
  createIssue: mutation(Issue, { params: { project: t.id, title: t.string, trx } })(
    async ({ trx, ctx, project, title }) => {
      const { id } = await ctx.authorize(visibleProjects, await projectById.load(ctx, project));
      const row = {
        id: randomUUID(),
        project_id: id,
        title,
        body: title,
        estimate: 1,
        assignee_id: null,
        duplicate_of: null,
      };
      return trx
        .insertInto("issues")
        .values({ ...row, created_at: new Date() })
        .returningAll()
        .executeTakeFirstOrThrow();
    },
  ),
  assignIssue: mutation(Issue, { params: { ...of, person: t.id } })(async ({ trx, ctx, id, person }) => {
    await ctx.authorize(visibleIssues, await issueById.load(ctx, id));
    return change(trx, ctx, id, { assignee_id: person });
  }),
  editComment: mutation(Comment, { params: { ...of, text: t.string } })(async ({ trx, ctx, id, text }) => {
    const found = await trx.selectFrom("comments").selectAll().where("id", "=", id).forUpdate().executeTakeFirst();
    await ctx.authorize(visibleComments, found);
    return present(
      await trx.updateTable("comments").set({ text }).where("id", "=", id).returningAll().executeTakeFirst(),
    );
  }),
};

export const mutations: Readonly<Record<string, FieldDef<any, any, any, "mutation">>> = { ...unchecked, ...checked };
