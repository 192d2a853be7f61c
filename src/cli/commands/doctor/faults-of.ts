import type { PorticoApp } from "../../../portico-app.ts";
import { type StartupFault, startupFaults } from "../../../startup-faults.ts";
import { type Finding, failed } from "./finding.ts";

/** The faults of a check that would stop the startup, as findings. */
export function faultsOf({ settings, table }: PorticoApp, check: StartupFault["check"]): readonly Finding[] {
  return startupFaults(settings, table)
    .filter((fault) => fault.check === check)
    .map(({ option, rule }) => failed(check, `${option} ${rule}`));
}
