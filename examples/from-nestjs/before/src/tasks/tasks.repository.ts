import { Injectable } from "@nestjs/common";
import type { Page } from "../common/page";
import type { PageArgs } from "../common/page.args";
import { DatabaseService } from "../database/database.service";
import type { User } from "../users/user.entity";
import type { CreateTaskInput } from "./create-task.input";
import { type Task, TaskStatus } from "./task.entity";

const VISIBLE = `"projectId" in (select "projectId" from members where "userId" = ?)`;

@Injectable()
export class TasksRepository {
  constructor(private readonly database: DatabaseService) {}

  findById(id: number): Task | undefined {
    return this.database.get<Task>("select * from tasks where id = ?", id);
  }

  findOfProject(projectId: number, { limit, offset }: PageArgs): Page<Task> {
    return this.page(`"projectId" = ?`, [projectId], limit, offset);
  }

  /** Admins see all tasks, other users those of the projects they are a member of. */
  findVisible(user: User, { limit, offset }: PageArgs): Page<Task> {
    return user.role === "ADMIN" ? this.page("true", [], limit, offset) : this.page(VISIBLE, [user.id], limit, offset);
  }

  create({ projectId, title, assigneeId = null }: CreateTaskInput): Task {
    return this.database.all<Task>(
      `insert into tasks ("projectId", title, status, "assigneeId", "createdAt") values (?, ?, ?, ?, ?) returning *`,
      projectId,
      title,
      TaskStatus.OPEN,
      assigneeId,
      new Date().toISOString(),
    )[0];
  }

  setStatus(id: number, status: TaskStatus): Task {
    return this.database.all<Task>("update tasks set status = ? where id = ? returning *", status, id)[0];
  }

  private page(where: string, values: number[], limit: number, offset: number): Page<Task> {
    const items = this.database.all<Task>(
      `select * from tasks where ${where} order by "createdAt" desc, id desc limit ? offset ?`,
      ...values,
      limit,
      offset,
    );
    const count = this.database.get<{ total: number }>(`select count(*) as total from tasks where ${where}`, ...values);
    return { items, total: count?.total ?? 0, limit, offset };
  }
}
