import { sql } from "kysely";
import type { Database, PorticoTables } from "portico/sql";

export interface OrganisationRow {
  readonly id: string;
  readonly name: string;
}
export interface PersonRow {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}
interface MembershipRow {
  readonly person_id: string;
  readonly organisation_id: string;
}
export interface ProjectRow {
  readonly id: string;
  readonly organisation_id: string | null;
  readonly name: string;
  readonly lead_id: string | null;
  readonly created_at: Date;
}
export interface IssueRow {
  readonly id: string;
  readonly project_id: string | null;
  readonly title: string;
  readonly body: string;
  readonly estimate: number;
  readonly assignee_id: string | null;
  readonly duplicate_of: string | null;
  readonly created_at: Date;
}
/** Attachments have no table: a comment holds them as JSON. */
export interface AttachmentRow {
  readonly file: string;
  readonly url: string;
  readonly issue_id: string | null;
}
export interface CommentRow {
  readonly id: string;
  readonly issue_id: string | null;
  readonly author_id: string | null;
  readonly text: string;
  readonly files: readonly AttachmentRow[];
  readonly created_at: Date;
}
export interface LabelRow {
  readonly id: string;
  readonly organisation_id: string | null;
  readonly name: string;
  readonly colour: string;
}
interface IssueLabelRow {
  readonly issue_id: string;
  readonly label_id: string;
}

export interface Tables extends PorticoTables {
  organisations: OrganisationRow;
  people: PersonRow;
  memberships: MembershipRow;
  projects: ProjectRow;
  issues: IssueRow;
  comments: CommentRow;
  labels: LabelRow;
  issue_labels: IssueLabelRow;
}

/** The tables without foreign keys, because some rows of one tenant refer to rows of another on purpose. */
const STATEMENTS = [
  "create table organisations (id text primary key, name text not null)",
  "create table people (id text primary key, name text not null, email text not null)",
  "create table memberships (person_id text not null, organisation_id text not null, primary key (person_id, organisation_id))",
  "create table projects (id text primary key, organisation_id text, name text not null, lead_id text, created_at timestamptz not null default now())",
  "create table issues (id text primary key, project_id text, title text not null, body text not null, estimate int not null, assignee_id text, duplicate_of text, created_at timestamptz not null default now())",
  "create index on issues (project_id)",
  "create index on issues (assignee_id)",
  "create table comments (id text primary key, issue_id text, author_id text, text text not null, files jsonb not null default '[]', created_at timestamptz not null default now())",
  "create index on comments (issue_id)",
  "create table labels (id text primary key, organisation_id text, name text not null, colour text not null)",
  "create table issue_labels (issue_id text not null, label_id text not null, primary key (issue_id, label_id))",
];

export async function createTables(database: Database<Tables>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(database);
}
