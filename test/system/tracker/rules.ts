import { type Condition, type CurrentUser, isEqual, isIn, type RelatedRows, type Rule, rule, some } from "portico";
import { organisationOfIssue, organisationsOfPerson, projectById } from "./loaders.ts";
import { organisationsOf } from "./member.ts";
import type { CommentRow, IssueRow, LabelRow, OrganisationRow, PersonRow, ProjectRow } from "./tables.ts";

type Owned = Pick<ProjectRow, "organisation_id">;

const belongsTo = (user: CurrentUser, organisation: string | null): boolean =>
  organisation !== null && organisationsOf(user).includes(organisation);
const ownRows = (user: CurrentUser): Condition<"organisation_id"> => isIn("organisation_id", organisationsOf(user));
const ownProjects = (user: CurrentUser): RelatedRows => ({ from: "projects", column: "id", where: ownRows(user) });
const ownIssues = (user: CurrentUser): Condition<"project_id"> => isIn("project_id", ownProjects(user));

export const memberOrganisations: Rule<OrganisationRow, true> = rule<OrganisationRow>({
  name: "organisation.member",
  allows: (user, { id }) => belongsTo(user, id),
  where: (user) => isIn("id", organisationsOf(user)),
});

export const visiblePeople: Rule<PersonRow, true> = rule<PersonRow>({
  name: "person.visible",
  allows: async (user, { id }, { ctx }) =>
    id === user.identity ||
    (await organisationsOfPerson.load(ctx, id)).some((organisation) => belongsTo(user, organisation)),
  where: (user) =>
    some(isEqual("id", user.identity), isIn("id", { from: "memberships", column: "person_id", where: ownRows(user) })),
});

/** The rule of an interface, which adds to those of its types. */
export const ownedRows: Rule<Owned, true> = rule<Owned>({
  name: "owned.visible",
  allows: (user, { organisation_id }) => belongsTo(user, organisation_id),
  where: ownRows,
});

export const visibleProjects: Rule<ProjectRow, true> = rule<ProjectRow>({
  name: "project.visible",
  allows: (user, { organisation_id }) => belongsTo(user, organisation_id),
  where: ownRows,
});

export const visibleIssues: Rule<IssueRow, true> = rule<IssueRow>({
  name: "issue.visible",
  allows: async (user, { project_id }, { ctx }) => {
    const project = project_id === null ? null : await projectById.load(ctx, project_id);
    return project !== null && belongsTo(user, project.organisation_id);
  },
  where: ownIssues,
});

export const visibleComments: Rule<CommentRow, true> = rule<CommentRow>({
  name: "comment.visible",
  allows: async (user, { issue_id }, { ctx }) =>
    issue_id !== null && belongsTo(user, await organisationOfIssue.load(ctx, issue_id)),
  where: (user) => isIn("issue_id", { from: "issues", column: "id", where: ownIssues(user) }),
});

/** Without `where`: labels are in lists in memory only. */
export const visibleLabels: Rule<LabelRow, true> = rule<LabelRow>({
  name: "label.visible",
  allows: (user, { organisation_id }) => belongsTo(user, organisation_id),
});
