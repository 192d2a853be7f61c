import { authorized, BadRequest, Depend } from "portico";
import { connection, field, mutation, t } from "portico/graphql";
import { database, inTransaction } from "../database.ts";
import { findProject } from "../projects/find-project.ts";
import { visibleProjects } from "../projects/project-rules.ts";
import { notifier } from "./notifier.ts";
import { newestTasks, taskList } from "./task-lists.ts";
import { visibleTasks } from "./task-rules.ts";
import { Task, TaskStatus } from "./task-type.ts";

const TaskTitle = t.scalar<string>("TaskTitle", {
  description: "1 to 200 characters",
  serialize: String,
  parse(value) {
    if (typeof value === "string" && value.length >= 1 && value.length <= 200) return value;
    throw new TypeError("a title must have 1 to 200 characters");
  },
});
const CreateTaskInput = t.input("CreateTaskInput", {
  projectId: t.int,
  title: TaskTitle,
  assigneeId: t.nullable(t.int),
});

const findTask = (id: number) =>
  database.current().selectFrom("tasks").selectAll().where("id", "=", id).executeTakeFirst();

export function tasksModule() {
  const query = {
    task: field(t.nullable(Task), { params: { id: t.int }, auth: true })(({ id }) => findTask(id)),
    tasks: connection(Task, newestTasks, { auth: true })(taskList),
  };

  const createTask = mutation(Task, {
    params: {
      input: CreateTaskInput,
      trx: inTransaction,
      notifier: Depend(notifier),
      project: authorized(
        ({ args: { input } }: { args: { input: { projectId: number } } }) => findProject(input.projectId),
        visibleProjects,
      ),
    },
    auth: true,
  })(async ({ input: { projectId, title, assigneeId }, trx, notifier }) => {
    if (assigneeId !== null) {
      const assignee = await trx.selectFrom("users").select("id").where("id", "=", assigneeId).executeTakeFirst();
      if (assignee === undefined) throw new BadRequest("The assignee does not exist");
      trx.afterCommit(() => notifier.assigned(assigneeId, title));
    }
    const createdAt = new Date().toISOString();
    const values = { projectId, title, status: "OPEN", assigneeId, createdAt } as const;
    return trx.insertInto("tasks").values(values).returningAll().executeTakeFirstOrThrow();
  });

  const setTaskStatus = mutation(Task, {
    params: {
      id: t.int,
      status: TaskStatus,
      trx: inTransaction,
      task: authorized(({ args }: { args: { id: number } }) => findTask(args.id), visibleTasks),
    },
    auth: true,
  })(async ({ id, status, trx }) => {
    return trx.updateTable("tasks").set({ status }).where("id", "=", id).returningAll().executeTakeFirstOrThrow();
  });

  return { query, mutation: { createTask, setTaskStatus } };
}
