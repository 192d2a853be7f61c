import type { Generated, Selectable } from "kysely";

export const taskStatuses = ["OPEN", "DONE"] as const;

export interface TaskTable {
  id: Generated<number>;
  projectId: number;
  title: string;
  status: (typeof taskStatuses)[number];
  assigneeId: number | null;
  createdAt: string;
}
export type TaskRow = Selectable<TaskTable>;
