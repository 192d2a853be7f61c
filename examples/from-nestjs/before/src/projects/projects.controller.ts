import { Body, Controller, Delete, Get, HttpCode, Param, ParseIntPipe, Patch, Post, Query } from "@nestjs/common";
import { CurrentUser } from "../auth/current-user.decorator";
import { Roles } from "../auth/roles.decorator";
import { PageArgs } from "../common/page.args";
import { User } from "../users/user.entity";
import { CreateProjectDto, UpdateProjectDto } from "./project.dto";
import { ProjectsService } from "./projects.service";

@Controller("projects")
export class ProjectsController {
  constructor(private readonly projects: ProjectsService) {}

  @Get()
  list(@CurrentUser() user: User, @Query() page: PageArgs) {
    return this.projects.list(user, page);
  }

  @Get(":id")
  get(@CurrentUser() user: User, @Param("id", ParseIntPipe) id: number) {
    return this.projects.get(user, id);
  }

  @Post()
  create(@CurrentUser() user: User, @Body() project: CreateProjectDto) {
    return this.projects.create(user, project);
  }

  @Patch(":id")
  update(@CurrentUser() user: User, @Param("id", ParseIntPipe) id: number, @Body() changes: UpdateProjectDto) {
    return this.projects.update(user, id, changes);
  }

  @Delete(":id")
  @HttpCode(204)
  @Roles("ADMIN")
  delete(@Param("id", ParseIntPipe) id: number) {
    this.projects.delete(id);
  }
}
