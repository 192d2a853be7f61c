import { PorticoApp, type PorticoAppOptions } from "portico";
import { Graph, schema } from "portico/graphql";
import { database } from "./database.ts";
import { projectsModule } from "./projects/projects-module.ts";
import { responseTime } from "./response-time.ts";
import { settings } from "./settings.ts";
import { tasksModule } from "./tasks/tasks-module.ts";
import { signIn } from "./users/sign-in.ts";
import { usersModule } from "./users/users-module.ts";

/** Builds the application without starting it. The function of each module returns its routes and its fields. */
export function tracker(options: PorticoAppOptions = {}): PorticoApp {
  const users = usersModule();
  const projects = projectsModule();
  const tasks = tasksModule();

  const app = new PorticoApp({ title: "Tracker", cursorKeys: [settings.secret], ...options });
  app.onClose(() => database.destroy());
  app.use(responseTime);
  app.use(signIn);
  app.mount("/auth", users.routes);
  app.mount("/projects", projects.routes);
  const query = [users.query, projects.query, tasks.query];
  new Graph(schema({ query, mutation: tasks.mutation }), { ide: true }).mount(app);
  return app;
}
