import { isEqual, isIn, rule, some } from "portico";
import { useAuth } from "portico/auth";
import type { User } from "../users/user.ts";
import { projectsOfUser } from "./project-loaders.ts";
import type { ProjectRow } from "./project-table.ts";

export const managers = useAuth({ permissions: ["manage:projects"] });

/** The projects of a user as a condition, for the lists of projects and of tasks. */
export const projectsOf = (user: User) =>
  ({ from: "members", column: "projectId", where: isEqual("userId", user.id) }) as const;

/** Admins see all projects, other users those they are a member of. */
export const visibleProjects = some(
  managers,
  rule<ProjectRow>({
    name: "project.member",
    allows: async (user, { id }, { ctx }) => (await projectsOfUser.load(ctx, user.id)).has(id),
    where: (user) => isIn("id", projectsOf(user)),
  }),
);

/** Admins and the owner may change a project. */
export const editableProjects = some(
  managers,
  rule<ProjectRow>({ name: "project.owner", allows: (user, { ownerId }) => ownerId === user.id }),
);
