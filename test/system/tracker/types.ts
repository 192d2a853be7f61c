import {
  connection,
  field,
  type InterfaceType,
  type ObjectType,
  type Of,
  object,
  t,
  type UnionType,
} from "portico/graphql";
import { byName, byTitle, comments, issueList, issues, newest, personList, projectList, projects } from "./lists.ts";
import {
  commentsOfIssue,
  issueById,
  labelsOfIssue,
  membersOf,
  organisationById,
  organisationsOfPerson,
  personById,
  projectById,
} from "./loaders.ts";
import {
  memberOrganisations,
  ownedRows,
  visibleComments,
  visibleIssues,
  visibleLabels,
  visiblePeople,
  visibleProjects,
} from "./rules.ts";
import type {
  AttachmentRow,
  CommentRow,
  IssueRow,
  LabelRow,
  OrganisationRow,
  PersonRow,
  ProjectRow,
} from "./tables.ts";

/** A row of any kind, told apart by its columns. */
export type AnyRow = OrganisationRow | PersonRow | ProjectRow | IssueRow | CommentRow | LabelRow;
function kindOf(row: { readonly id: string }): string {
  if ("project_id" in row) return "Issue";
  if ("lead_id" in row) return "Project";
  if ("colour" in row) return "Label";
  if ("issue_id" in row) return "Comment";
  return "email" in row ? "Person" : "Organisation";
}

/** An interface without a rule: the types have their own. */
export const Node: InterfaceType<{ readonly id: string }> = t.interface(
  "Node",
  { id: t.id },
  { resolveType: (row) => kindOf(row) },
);

/** An interface with a rule. */
export const Owned: InterfaceType<Pick<ProjectRow, "id" | "organisation_id" | "name">> = t.interface(
  "Owned",
  {
    id: t.id,
    name: t.string,
    organisation: field(t.nullable(t.ref<OrganisationRow>("Organisation")))(({ parent, ctx }) =>
      parent.organisation_id === null ? null : organisationById.load(ctx, parent.organisation_id),
    ),
  },
  { auth: ownedRows, resolveType: (row) => kindOf(row) },
);

export const Organisation: ObjectType<OrganisationRow> = object(
  "Organisation",
  {
    name: t.string,
    projects: connection(() => Project, byName)(({ parent }) => projects({ organisation_id: parent.id })),
    // All issues of all tenants, under every organisation.
    allIssues: connection(() => Issue, newest, { inputPrefix: "NewIssue" })(() => issues()),
    people: field(t.list(t.ref<PersonRow>("Person")))(async ({ parent, ctx }) => {
      const found = await Promise.all((await membersOf.load(ctx, parent.id)).map((id) => personById.load(ctx, id)));
      return found.filter((row) => row !== null);
    }),
    someone: field(t.list(t.ref<PersonRow>("Person")))(() => personList()),
  },
  { implements: [Node], auth: memberOrganisations },
);

export const Person: ObjectType<PersonRow> = object(
  "Person",
  {
    name: t.string,
    email: field(t.string, { auth: (user, { parent }: Of<PersonRow>) => user.identity !== parent.name }),
    organisations: field(t.list(Organisation))(async ({ parent, ctx }) => {
      const ids = await organisationsOfPerson.load(ctx, parent.id);
      const found = await Promise.all(ids.map((id) => organisationById.load(ctx, id)));
      return found.filter((row) => row !== null);
    }),
    // Issues of other tenants may be assigned to the person.
    assigned: connection(() => Issue, byTitle, { cursorScope: ({ parent }: Of<PersonRow>) => ({ of: parent.id }) })(
      ({ parent }) => issues({ assignee_id: parent.id }),
    ),
  },
  { implements: [Node], auth: visiblePeople },
);

export const Project: ObjectType<ProjectRow> = object(
  "Project",
  {
    created_at: t.dateTime,
    lead: field(t.nullable(Person))(({ parent, ctx }) =>
      parent.lead_id === null ? null : personById.load(ctx, parent.lead_id),
    ),
    issues: connection(() => Issue, byTitle, { cursorScope: ({ parent }: Of<ProjectRow>) => ({ of: parent.id }) })(
      ({ parent }) => issues({ project_id: parent.id }),
    ),
    // The projects of all tenants.
    others: field(t.list(t.ref<ProjectRow>("Project")))(() => projectList()),
    newestIssues: field(t.list(t.ref<IssueRow>("Issue")))(({ parent }) => issueList({ project_id: parent.id }, 3)),
  },
  { implements: [Node, Owned], auth: visibleProjects },
);

export const Label: ObjectType<LabelRow> = object(
  "Label",
  { colour: t.string },
  { implements: [Node, Owned], auth: visibleLabels },
);

/** An attachment is visible with its issue. Its gate is a function of the object. */
export const Attachment: ObjectType<AttachmentRow> = object(
  "Attachment",
  {
    file: t.string,
    url: t.string,
    issue: field(t.nullable(t.ref<IssueRow>("Issue")))(({ parent, ctx }) =>
      parent.issue_id === null ? null : issueById.load(ctx, parent.issue_id),
    ),
  },
  {
    auth: async (_user, { parent, ctx }) =>
      parent.issue_id !== null && ctx.can(visibleIssues, await issueById.load(ctx, parent.issue_id)),
  },
);

/** An object without a rule, whose properties have one. */
interface Summary {
  readonly headline: string;
  readonly duplicate: IssueRow | null;
  readonly project: ProjectRow | null;
  readonly people: readonly PersonRow[];
  readonly columns: readonly (readonly IssueRow[])[];
}
const IssueSummary: ObjectType<Summary> = object("IssueSummary", {
  headline: t.string,
  duplicate: t.nullable(t.ref<IssueRow>("Issue")),
  project: t.nullable(Project),
  people: t.list(Person),
  columns: t.list(t.list(t.ref<IssueRow>("Issue"))),
});

export const Issue: ObjectType<IssueRow> = object(
  "Issue",
  {
    title: t.string,
    body: t.string,
    estimate: t.int,
    created_at: t.dateTime,
    project: field(t.nullable(Project))(({ parent, ctx }) =>
      parent.project_id === null ? null : projectById.load(ctx, parent.project_id),
    ),
    assignee: field(t.nullable(Person))(({ parent, ctx }) =>
      parent.assignee_id === null ? null : personById.load(ctx, parent.assignee_id),
    ),
    duplicateOf: field(t.nullable(t.ref<IssueRow>("Issue")))(({ parent, ctx }) =>
      parent.duplicate_of === null ? null : issueById.load(ctx, parent.duplicate_of),
    ),
    comments: connection(() => Comment, newest)(({ parent }) => comments({ issue_id: parent.id })),
    thread: field(t.list(t.ref<CommentRow>("Comment")))(({ parent, ctx }) => commentsOfIssue.load(ctx, parent.id)),
    labels: field(t.list(Label))(({ parent, ctx }) => labelsOfIssue.load(ctx, parent.id)),
    labelPages: connection(Label, byName)(({ parent, ctx }) => labelsOfIssue.load(ctx, parent.id)),
    attachments: field(t.list(Attachment))(async ({ parent, ctx }) =>
      (await commentsOfIssue.load(ctx, parent.id)).flatMap(({ files }) => files),
    ),
    related: field(t.list(t.ref<AnyRow>("SearchHit")))(async ({ parent, ctx }) => {
      const { duplicate_of, assignee_id, project_id } = parent;
      const found = await Promise.all([
        duplicate_of === null ? null : issueById.load(ctx, duplicate_of),
        assignee_id === null ? null : personById.load(ctx, assignee_id),
        project_id === null ? null : projectById.load(ctx, project_id),
      ]);
      return found.filter((row) => row !== null);
    }),
    summary: field(IssueSummary)(async ({ parent, ctx }) => {
      const { duplicate_of, assignee_id, project_id, title } = parent;
      const duplicate = duplicate_of === null ? null : await issueById.load(ctx, duplicate_of);
      const assignee = assignee_id === null ? null : await personById.load(ctx, assignee_id);
      return {
        headline: title,
        duplicate,
        project: project_id === null ? null : await projectById.load(ctx, project_id),
        people: assignee === null ? [] : [assignee],
        columns: [[parent], duplicate === null ? [] : [duplicate]],
      };
    }),
  },
  { implements: [Node], auth: visibleIssues },
);

export const Comment: ObjectType<CommentRow> = object(
  "Comment",
  {
    text: t.string,
    created_at: t.dateTime,
    // A property whose type has a gate.
    files: t.list(Attachment),
    issue: field(t.nullable(Issue))(({ parent, ctx }) =>
      parent.issue_id === null ? null : issueById.load(ctx, parent.issue_id),
    ),
    author: field(t.nullable(Person))(({ parent, ctx }) =>
      parent.author_id === null ? null : personById.load(ctx, parent.author_id),
    ),
  },
  { implements: [Node], auth: visibleComments },
);

export const SearchHit: UnionType<AnyRow> = t.union(
  "SearchHit",
  [Organisation, Person, Project, Issue, Comment, Label],
  { resolveType: (row) => kindOf(row) },
);
