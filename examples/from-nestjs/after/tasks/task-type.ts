import { field, type ObjectType, object, t } from "portico/graphql";
import { projectById } from "../projects/project-loaders.ts";
import type { ProjectRow } from "../projects/project-table.ts";
import { userById } from "../users/user-loader.ts";
import { UserType } from "../users/user-type.ts";
import { visibleTasks } from "./task-rules.ts";
import { type TaskRow, taskStatuses } from "./task-table.ts";

export const TaskStatus = t.enum("TaskStatus", taskStatuses);

export const Task: ObjectType<TaskRow> = object(
  "Task",
  {
    id: t.int,
    title: t.string,
    status: TaskStatus,
    createdAt: t.string,
    project: field(t.ref<ProjectRow>("Project"))(({ ctx, parent }) => projectById.load(ctx, parent.projectId)),
    assignee: field(t.nullable(UserType))(({ ctx, parent }) =>
      parent.assigneeId === null ? null : userById.load(ctx, parent.assigneeId),
    ),
  },
  { auth: visibleTasks },
);
