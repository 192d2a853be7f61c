import { Module } from "@nestjs/common";
import { UsersModule } from "../users/users.module";
import { ProjectsController } from "./projects.controller";
import { ProjectsLoader } from "./projects.loader";
import { ProjectsRepository } from "./projects.repository";
import { ProjectsResolver } from "./projects.resolver";
import { ProjectsService } from "./projects.service";

@Module({
  imports: [UsersModule],
  controllers: [ProjectsController],
  providers: [ProjectsRepository, ProjectsService, ProjectsLoader, ProjectsResolver],
  exports: [ProjectsService, ProjectsLoader],
})
export class ProjectsModule {}
