import type { Generated, Selectable } from "kysely";

export interface ProjectTable {
  id: Generated<number>;
  name: string;
  description: string | null;
  ownerId: number;
  createdAt: string;
}
export type ProjectRow = Selectable<ProjectTable>;

export interface MemberTable {
  projectId: number;
  userId: number;
}
