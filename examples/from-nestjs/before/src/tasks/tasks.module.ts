import { Module } from "@nestjs/common";
import { ProjectsModule } from "../projects/projects.module";
import { UsersModule } from "../users/users.module";
import { ConsoleNotifier, Notifier } from "./notifier";
import { ProjectTasksResolver } from "./project-tasks.resolver";
import { TasksRepository } from "./tasks.repository";
import { TasksResolver } from "./tasks.resolver";
import { TasksService } from "./tasks.service";

@Module({
  imports: [ProjectsModule, UsersModule],
  providers: [
    TasksRepository,
    TasksService,
    TasksResolver,
    ProjectTasksResolver,
    { provide: Notifier, useClass: ConsoleNotifier },
  ],
})
export class TasksModule {}
