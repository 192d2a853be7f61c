import { isIn, rule, some } from "portico";
import { projectsOfUser } from "../projects/project-loaders.ts";
import { managers, projectsOf } from "../projects/project-rules.ts";
import type { TaskRow } from "./task-table.ts";

/** The tasks of the projects that a user may see. */
export const visibleTasks = some(
  managers,
  rule<TaskRow>({
    name: "task.member",
    allows: async (user, { projectId }, { ctx }) => (await projectsOfUser.load(ctx, user.id)).has(projectId),
    where: (user) => isIn("projectId", projectsOf(user)),
  }),
);
