import type { Command } from "commander";
import type { RunCommand } from "./runner.ts";

/** `portico routes` */
export function routesCommand(program: Command, run: RunCommand): void {
  program
    .command("routes")
    .description("Lists the routes and sockets of the application with their gates, limits and schemas.")
    .action(
      run(async ({ project, width }) => {
        const [app, { listRoutes }] = await Promise.all([project.app(), import("./list-routes.ts")]);
        return listRoutes(app, width);
      }),
    );
}
