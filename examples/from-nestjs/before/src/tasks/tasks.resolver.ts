import { Args, Int, Mutation, Parent, Query, ResolveField, Resolver } from "@nestjs/graphql";
import { CurrentUser } from "../auth/current-user.decorator";
import { PageArgs } from "../common/page.args";
import { Project } from "../projects/project.entity";
import { ProjectsLoader } from "../projects/projects.loader";
import { User } from "../users/user.entity";
import { UsersLoader } from "../users/users.loader";
import { CreateTaskInput } from "./create-task.input";
import { Task, TaskStatus } from "./task.entity";
import { TaskPage } from "./task-page";
import { TasksService } from "./tasks.service";

@Resolver(() => Task)
export class TasksResolver {
  constructor(
    private readonly service: TasksService,
    private readonly projects: ProjectsLoader,
    private readonly users: UsersLoader,
  ) {}

  @Query(() => Task)
  task(@CurrentUser() user: User, @Args("id", { type: () => Int }) id: number) {
    return this.service.get(user, id);
  }

  @Query(() => TaskPage)
  tasks(@CurrentUser() user: User, @Args() page: PageArgs) {
    return this.service.list(user, page);
  }

  @Mutation(() => Task)
  createTask(@CurrentUser() user: User, @Args("input") input: CreateTaskInput) {
    return this.service.create(user, input);
  }

  @Mutation(() => Task)
  setTaskStatus(
    @CurrentUser() user: User,
    @Args("id", { type: () => Int }) id: number,
    @Args("status", { type: () => TaskStatus }) status: TaskStatus,
  ) {
    return this.service.setStatus(user, id, status);
  }

  @ResolveField(() => Project)
  project(@Parent() task: Task) {
    return this.projects.load(task.projectId);
  }

  @ResolveField(() => User, { nullable: true })
  assignee(@Parent() task: Task) {
    return task.assigneeId === null ? null : this.users.load(task.assigneeId);
  }
}
