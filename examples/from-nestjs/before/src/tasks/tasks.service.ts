import { BadRequestException, Injectable, NotFoundException } from "@nestjs/common";
import type { Page } from "../common/page";
import type { PageArgs } from "../common/page.args";
import { ProjectsService } from "../projects/projects.service";
import type { User } from "../users/user.entity";
import { UsersRepository } from "../users/users.repository";
import type { CreateTaskInput } from "./create-task.input";
import { Notifier } from "./notifier";
import type { Task, TaskStatus } from "./task.entity";
import { TasksRepository } from "./tasks.repository";

@Injectable()
export class TasksService {
  constructor(
    private readonly tasks: TasksRepository,
    private readonly projects: ProjectsService,
    private readonly users: UsersRepository,
    private readonly notifier: Notifier,
  ) {}

  list(user: User, page: PageArgs): Page<Task> {
    return this.tasks.findVisible(user, page);
  }

  listOfProject(projectId: number, page: PageArgs): Page<Task> {
    return this.tasks.findOfProject(projectId, page);
  }

  get(user: User, id: number): Task {
    const task = this.tasks.findById(id);
    if (task === undefined || !this.projects.canSee(user, task.projectId))
      throw new NotFoundException("Task not found");
    return task;
  }

  async create(user: User, input: CreateTaskInput): Promise<Task> {
    this.projects.get(user, input.projectId);
    const assignee = input.assigneeId ?? null;
    if (assignee !== null && this.users.findById(assignee) === undefined) {
      throw new BadRequestException("The assignee does not exist");
    }
    const task = this.tasks.create(input);
    if (assignee !== null) await this.notifier.assigned(assignee, task.title);
    return task;
  }

  setStatus(user: User, id: number, status: TaskStatus): Task {
    this.get(user, id);
    return this.tasks.setStatus(id, status);
  }
}
