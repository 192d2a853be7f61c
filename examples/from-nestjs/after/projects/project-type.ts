import { connection, field, type ObjectType, object, t } from "portico/graphql";
import { newestTasks, taskList } from "../tasks/task-lists.ts";
import { Task } from "../tasks/task-type.ts";
import { userById } from "../users/user-loader.ts";
import { UserType } from "../users/user-type.ts";
import { visibleProjects } from "./project-rules.ts";
import type { ProjectRow } from "./project-table.ts";

export const Project: ObjectType<ProjectRow> = object(
  "Project",
  {
    id: t.int,
    name: t.string,
    description: t.nullable(t.string),
    createdAt: t.string,
    owner: field(UserType)(({ ctx, parent }) => userById.load(ctx, parent.ownerId)),
    tasks: connection(Task, newestTasks, { parent: { projectId: "id" } })(taskList),
  },
  { auth: visibleProjects },
);
