import { ForbiddenException, Injectable, NotFoundException } from "@nestjs/common";
import type { Page } from "../common/page";
import type { PageArgs } from "../common/page.args";
import type { User } from "../users/user.entity";
import type { CreateProjectDto, UpdateProjectDto } from "./project.dto";
import type { Project } from "./project.entity";
import { ProjectsRepository } from "./projects.repository";

@Injectable()
export class ProjectsService {
  constructor(private readonly projects: ProjectsRepository) {}

  list(user: User, page: PageArgs): Page<Project> {
    return this.projects.findVisible(user, page);
  }

  /** A project that the user may not see is not found, like one that doesn't exist. */
  get(user: User, id: number): Project {
    const project = this.projects.findById(id);
    if (project === undefined || !this.canSee(user, id)) throw new NotFoundException("Project not found");
    return project;
  }

  canSee(user: User, projectId: number): boolean {
    return user.role === "ADMIN" || this.projects.isMember(projectId, user.id);
  }

  create(user: User, { name, description = null }: CreateProjectDto): Project {
    return this.projects.create(name, description, user.id);
  }

  update(user: User, id: number, changes: UpdateProjectDto): Project {
    const project = this.get(user, id);
    if (user.role !== "ADMIN" && project.ownerId !== user.id) throw new ForbiddenException();
    return this.projects.update(project, changes);
  }

  delete(id: number): void {
    if (!this.projects.delete(id)) throw new NotFoundException("Project not found");
  }
}
