import { Injectable, Scope } from "@nestjs/common";
import DataLoader from "dataloader";
import type { Project } from "./project.entity";
import { ProjectsRepository } from "./projects.repository";

/** Loads the projects of one request with one statement. */
@Injectable({ scope: Scope.REQUEST })
export class ProjectsLoader {
  private readonly loader = new DataLoader<number, Project>(async (ids) => {
    const found = new Map(this.projects.findByIds(ids).map((project) => [project.id, project]));
    return ids.map((id) => found.get(id) ?? new Error(`Project ${id} not found`));
  });

  constructor(private readonly projects: ProjectsRepository) {}

  load(id: number): Promise<Project> {
    return this.loader.load(id);
  }
}
