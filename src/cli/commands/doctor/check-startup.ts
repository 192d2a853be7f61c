import { Paging } from "../../../http/pages/paging.ts";
import { checkPaths } from "../../../http/routing/check-paths.ts";
import { isServed } from "../../../http/routing/is-served.ts";
import { reportGates } from "../../../http/routing/report-gates.ts";
import type { PorticoApp } from "../../../portico-app.ts";
import { countText } from "../../output/count-text.ts";
import { type Finding, ok, warning } from "./finding.ts";
import { keptLog } from "./kept-log.ts";

/** Runs the checks of the startup, without starting the application. */
export function checkStartup(app: PorticoApp): readonly Finding[] {
  const { table, settings } = app;
  const said: string[] = [];
  const log = keptLog(said);
  checkPaths(table.routes, table.sockets);
  app.openapi();
  new Paging(settings.cursorKeys, log, settings.publicUrl !== null).check(table.routes);
  reportGates(log, table);
  const routes = countText(table.routes.filter(isServed).length, "route");
  return [
    ok("application", `${settings.title} is built: ${routes}, ${countText(table.sockets.length, "socket")}`),
    ...said.map((sentence) => warning("application", sentence)),
  ];
}
