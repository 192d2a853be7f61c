import { Args, Parent, ResolveField, Resolver } from "@nestjs/graphql";
import { PageArgs } from "../common/page.args";
import { Project } from "../projects/project.entity";
import { TaskPage } from "./task-page";
import { TasksService } from "./tasks.service";

/** The tasks of a project. They are here because the projects module can't import this one. */
@Resolver(() => Project)
export class ProjectTasksResolver {
  constructor(private readonly service: TasksService) {}

  @ResolveField(() => TaskPage)
  tasks(@Parent() project: Project, @Args() page: PageArgs) {
    return this.service.listOfProject(project.id, page);
  }
}
