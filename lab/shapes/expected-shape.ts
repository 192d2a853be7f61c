import type { EngineName } from "../servers/engines.ts";
import { isJoin, type ListCase, type ShapeCase, type ShapeRule } from "./shape-case.ts";
import { memberships, type Owner, owners, type Project, projects } from "./shape-tables.ts";

/** A row as the query returns it. */
export interface ShapeRow {
  readonly id: number;
  readonly organisation: string | null;
  /** Whether the column of the organisation has numbers, which a rule compares as text. */
  readonly isNumber?: boolean;
  readonly rank: number | null;
  readonly name: string | null;
  readonly parent_id: number;
}

/** Returns the rows that the list has, in order, as JavaScript finds them. */
export function expectedShape(engine: EngineName, shape: ShapeCase): readonly ShapeRow[] {
  const rows = joined(shape).map(([project, other]) => rowOf(shape, project, other));
  return expectedRows(engine, rows, shape);
}

/** Returns the rows of a query that the rule and the filter of a list let through, in its order. */
export function expectedRows(engine: EngineName, rows: readonly ShapeRow[], list: ListCase): readonly ShapeRow[] {
  const { column, direction } = list.sort;
  return rows
    .filter((row) => isAllowed(list.rule, row) && passes(list, row))
    .toSorted((one, other) => ordered(engine, one[column], other[column], direction) || one.id - other.id);
}

/** The rows of the tables, with those of the joined table. */
function joined({ source }: ShapeCase): readonly (readonly [Project, Owner | Project | null])[] {
  if (source === "self-join")
    return projects.flatMap((project) =>
      projects.filter(({ id }) => id === project.parent_id).map((other) => [project, other] as const),
    );
  const all = projects.map((project) => [project, source.endsWith("join") ? ownerOf(project) : null] as const);
  return source === "inner join" ? all.filter(([, owner]) => owner !== null) : all;
}

function ownerOf({ id }: Project): Owner | null {
  return owners.find(({ project_id }) => project_id === id) ?? null;
}

/** The fields as the select clause computes them. */
function rowOf(shape: ShapeCase, project: Project, other: Owner | Project | null): ShapeRow {
  const { selection, organisation, rank } = shape;
  const isJoined = selection === "all of the joined table" && isJoin(shape);
  const from = isJoined ? other : project;
  const isNamed = selection === "names" || selection === "all, then names";
  const given = from?.organisation_id ?? null;
  return {
    id: project.id,
    parent_id: project.parent_id,
    name: isJoined ? (from?.name ?? "") : project.name,
    organisation: isNamed ? organisationAs(organisation, given) : given,
    rank: isNamed && rank === "negated" ? negated(project.rank) : project.rank,
  };
}

function organisationAs(form: ShapeCase["organisation"], value: string | null): string | null {
  switch (form) {
    case "lower":
      return value?.toLowerCase() ?? null;
    case "coalesce":
    case "parameter":
      return value ?? "bolt";
    case "case":
      return value === "bolt" ? null : value;
    case "bare":
    case "qualified":
    case "raw":
    case "renamed":
      return value;
  }
}

function negated(value: number | null): number | null {
  return value === null ? null : 0 - value;
}

function isAllowed(node: ShapeRule, row: ShapeRow): boolean {
  const { organisation } = row;
  switch (node.kind) {
    case "equal":
      return organisation === node.value;
    case "in":
      return node.values.includes(organisation);
    case "member":
      return membersOf(node.user).includes(organisation);
    case "owned":
      return owners.some(({ project_id, title }) => project_id === row.id && title === node.title);
    case "member of an owner": {
      const owned = owners.filter(({ title }) => title === node.title).map((owner) => owner.organisation_id);
      return membersOf(node.user).some((of) => of === organisation && owned.includes(of));
    }
    case "present":
      return organisation !== null;
    case "prefix":
      return organisation !== null && row.isNumber !== true && organisation.startsWith(node.value);
    case "range":
      return isWithin(row[node.column], node.bound, node.value);
    case "columns":
      if (node.bound === "equal") return row.rank === row.parent_id;
      return isWithin(row.rank, node.bound, row.parent_id);
    case "itself":
      return true;
    case "owner in the organisation":
      return owners.some(
        ({ project_id, organisation_id, title }) =>
          project_id === row.id && organisation_id !== null && organisation_id === organisation && title === node.title,
      );
    case "any owner":
      return owners.some(({ title }) => title === node.title);
    case "not":
      return !isAllowed(node.of, row);
    case "all":
      return node.of.every((part) => isAllowed(part, row));
    case "any":
      return node.of.some((part) => isAllowed(part, row));
  }
}

function isWithin(value: number | null, bound: "gt" | "gte" | "lt" | "lte", other: number): boolean {
  if (value === null) return false;
  if (bound === "gt") return value > other;
  if (bound === "gte") return value >= other;
  return bound === "lt" ? value < other : value <= other;
}

/** A null is in no table. */
function membersOf(user: string): readonly (string | null)[] {
  return memberships
    .filter(({ user_id, organisation_id }) => user_id === user && organisation_id !== null)
    .map(({ organisation_id }) => organisation_id);
}

function passes({ filter }: ListCase, { rank, name }: ShapeRow): boolean {
  if (filter === null) return true;
  if (filter.test === "startsWith") return name?.startsWith(filter.value) === true;
  if (filter.test === "isNull") return (rank === null) === filter.value;
  if (rank === null) return false;
  if (filter.test === "equal") return rank === filter.value;
  return filter.test === "lt" ? rank < filter.value : rank >= filter.value;
}

function ordered(engine: EngineName, one: number | null, other: number | null, direction: "asc" | "desc"): number {
  const sign = direction === "asc" ? 1 : -1;
  if (one !== null && other !== null) return sign * (one - other);
  if (one === other) return 0;
  // To PostgreSQL, a null is the greatest value, and to the others the least.
  return sign * ((one === null) === (engine === "PostgreSQL") ? 1 : -1);
}
