import { Args, Int, Parent, Query, ResolveField, Resolver } from "@nestjs/graphql";
import { CurrentUser } from "../auth/current-user.decorator";
import { PageArgs } from "../common/page.args";
import { User } from "../users/user.entity";
import { UsersLoader } from "../users/users.loader";
import { Project } from "./project.entity";
import { ProjectPage } from "./project-page";
import { ProjectsService } from "./projects.service";

@Resolver(() => Project)
export class ProjectsResolver {
  constructor(
    private readonly service: ProjectsService,
    private readonly users: UsersLoader,
  ) {}

  @Query(() => Project)
  project(@CurrentUser() user: User, @Args("id", { type: () => Int }) id: number) {
    return this.service.get(user, id);
  }

  @Query(() => ProjectPage)
  projects(@CurrentUser() user: User, @Args() page: PageArgs) {
    return this.service.list(user, page);
  }

  @ResolveField(() => User)
  owner(@Parent() project: Project) {
    return this.users.load(project.ownerId);
  }
}
