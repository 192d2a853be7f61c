import { connection, type FieldDef, field, type Params, t } from "portico/graphql";
import { database } from "./database.ts";
import {
  byName,
  byTitle,
  commentList,
  comments,
  issueList,
  issues,
  newest,
  people,
  personList,
  projectList,
  projects,
} from "./lists.ts";
import { commentById, issueById, labelById, organisationById, personById, projectById } from "./loaders.ts";
import type { LabelRow } from "./tables.ts";
import {
  type AnyRow,
  Attachment,
  Comment,
  Issue,
  Label,
  Node,
  Organisation,
  Owned,
  Person,
  Project,
  SearchHit,
} from "./types.ts";

const id = { id: t.id } satisfies Params;
const take = { take: t.int(10) } satisfies Params;

const LOADERS = [issueById, projectById, commentById, personById, organisationById, labelById];
async function anyById(ctx: Parameters<typeof issueById.load>[0], key: string): Promise<AnyRow | null> {
  const found = await Promise.all(LOADERS.map((of): Promise<AnyRow | null> => of.load(ctx, key)));
  return found.find((row) => row !== null) ?? null;
}

/** Rows of all kinds and of all tenants. */
async function search(limit: number): Promise<AnyRow[]> {
  const found: (readonly AnyRow[])[] = await Promise.all([
    issueList({}, limit),
    projectList({}, limit),
    commentList(limit),
    personList(limit),
    allLabels(),
    database.selectFrom("organisations").selectAll().execute(),
  ]);
  return found.flat();
}
const allLabels = (): Promise<LabelRow[]> => database.selectFrom("labels").selectAll().orderBy("colour").execute();

/** No query checks anything itself, and only three restrict their rows to the caller's. */
const declared = {
  me: field(t.nullable(Person), { auth: true })(({ ctx }) => personById.load(ctx, ctx.user.identity)),
  organisation: field(t.nullable(Organisation), { params: id })(({ id, ctx }) => organisationById.load(ctx, id)),
  person: field(t.nullable(Person), { params: id })(({ id, ctx }) => personById.load(ctx, id)),
  project: field(t.nullable(Project), { params: id })(({ id, ctx }) => projectById.load(ctx, id)),
  issue: field(t.nullable(Issue), { params: id })(({ id, ctx }) => issueById.load(ctx, id)),
  comment: field(t.nullable(Comment), { params: id })(({ id, ctx }) => commentById.load(ctx, id)),
  label: field(t.nullable(Label), { params: id })(({ id, ctx }) => labelById.load(ctx, id)),
  node: field(t.nullable(Node), { params: id })(({ id, ctx }) => anyById(ctx, id)),
  hit: field(t.nullable(SearchHit), { params: id })(({ id, ctx }) => anyById(ctx, id)),
  owned: field(t.nullable(Owned), { params: id })(
    async ({ id, ctx }) => (await projectById.load(ctx, id)) ?? labelById.load(ctx, id),
  ),

  organisations: field(t.list(Organisation))(() => database.selectFrom("organisations").selectAll().execute()),
  issuesById: field(t.list(t.nullable(Issue)), { params: { ids: t.list(t.id) }, listSize: 5 })(({ ids, ctx }) =>
    Promise.all(ids.map((key) => issueById.load(ctx, key))),
  ),
  issueList: field(t.list(Issue), { params: take })(({ take }) => issueList({}, take)),
  // Each item is a promise.
  commentList: field(t.list(Comment), { params: take })(
    async ({ take }) => (await commentList(take)).map(async (row) => row) as never,
  ),
  projectList: field(t.list(Project))(() => projectList()),
  allProjects: field(t.list(Owned))(async () => [...(await projectList()), ...(await allLabels())]),
  search: field(t.list(SearchHit), { params: take })(({ take }) => search(take)),
  nodes: field(t.list(Node), { params: take })(({ take }) => search(take)),
  board: field(t.list(t.list(Issue)))(async () => {
    const byProject = Map.groupBy(await issueList(), ({ project_id }) => project_id);
    return [...byProject.values()];
  }),
  attachments: field(t.list(Attachment), { params: take })(async ({ take }) =>
    (await commentList(take * 4)).flatMap(({ files }) => files),
  ),

  projects: connection(Project, byName)(() => projects()),
  issues: connection(Issue, byTitle)(() => issues()),
  issuesOfProject: connection(Issue, byTitle, {
    params: { project: t.id },
    cursorScope: ({ args }) => ({ project: args.project }),
  })(({ project }) => issues({ project_id: project })),
  comments: connection(Comment, newest)(() => comments()),
  commentsOfIssue: connection(Comment, newest, { params: { issue: t.id } })(({ issue }) =>
    comments({ issue_id: issue }),
  ),
  people: connection(Person, byName)(() => people()),
  labels: connection(Label, byName)(() => allLabels()),
  myIssues: connection(Issue, newest, {
    inputPrefix: "NewIssue",
    auth: true,
    cursorScope: ({ ctx }) => ({ of: ctx.user.identity }),
  })(({ ctx }) => issues({ assignee_id: ctx.user.identity })),
};

export const queries: Readonly<Record<string, FieldDef<any, any, any, "field">>> = declared;
