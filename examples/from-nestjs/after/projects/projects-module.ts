import { authorized, NotFound, Router } from "portico";
import { useAuth } from "portico/auth";
import { connection, field, t } from "portico/graphql";
import { z } from "zod";
import { database, inTransaction } from "../database.ts";
import { findProject } from "./find-project.ts";
import { byOffset, newestFirst, orderedProjects, projectList } from "./project-lists.ts";
import { editableProjects, managers, visibleProjects } from "./project-rules.ts";
import { Project } from "./project-type.ts";

const Item = z.object({
  id: z.int(),
  name: z.string(),
  description: z.string().nullable(),
  ownerId: z.int(),
  createdAt: z.string(),
});
const Page = z.object({ items: z.array(Item).readonly(), total: z.int(), limit: z.int(), offset: z.int() });
const NewProject = z.strictObject({
  name: z.string().min(1).max(80),
  description: z.string().max(500).nullable().optional(),
});
const path = z.object({ id: z.coerce.number().int() });

const byId = ({ path }: { path: { id: number } }) => findProject(path.id);
const visible = authorized(byId, visibleProjects);
const editable = authorized(byId, visibleProjects, { may: editableProjects });

export function projectsModule() {
  const routes = new Router({ auth: useAuth() });

  routes.get(
    "/",
    { query: z.strictObject({}), paginated: { strategy: byOffset, rule: visibleProjects }, response: Page },
    async ({ response }) => {
      const { items, pagination } = await response.page(orderedProjects(), { strategy: byOffset });
      return { items, total: pagination.total_items ?? 0, limit: pagination.limit, offset: pagination.offset };
    },
  );

  routes.get("/:id", { path, response: Item, params: { project: visible } }, ({ project }) => project);

  routes.post(
    "/",
    { body: NewProject, response: { 201: Item }, params: { trx: inTransaction } },
    async ({ body: { name, description = null }, trx, user, response }) => {
      const values = { name, description, ownerId: user.id, createdAt: new Date().toISOString() };
      const project = await trx.insertInto("projects").values(values).returningAll().executeTakeFirstOrThrow();
      await trx.insertInto("members").values({ projectId: project.id, userId: user.id }).execute();
      return response.status(201).json(project);
    },
  );

  const params = { project: editable };
  routes.patch("/:id", { path, body: NewProject.partial(), response: Item, params }, async ({ project, body }) => {
    const { name = project.name, description = project.description } = body;
    const changed = database.updateTable("projects").set({ name, description }).where("id", "=", project.id);
    return changed.returningAll().executeTakeFirstOrThrow();
  });

  routes.delete("/:id", { path, auth: managers, response: { 204: null } }, async ({ path, response }) => {
    const { numDeletedRows } = await database.deleteFrom("projects").where("id", "=", path.id).executeTakeFirst();
    if (numDeletedRows === 0n) throw new NotFound("Project not found");
    return response.empty();
  });

  const query = {
    project: field(t.nullable(Project), { params: { id: t.int }, auth: true })(({ id }) => findProject(id)),
    projects: connection(Project, newestFirst, { auth: true })(projectList),
  };
  return { routes, query };
}
