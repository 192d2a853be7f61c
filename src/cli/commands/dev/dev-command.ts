import type { Command } from "commander";
import { collect } from "../collect.ts";
import type { RunCommand } from "../runner.ts";
import type { DevFlags } from "./dev.ts";

/** `portico dev` */
export function devCommand(program: Command, run: RunCommand): void {
  program
    .command("dev")
    .description("Runs the server, restarts it when a file changes, and prints readable logs.")
    .argument("[entry]", "the program that starts the server (default: src/server.ts or server.ts)")
    .option("--watch <directory>", "a directory to watch; may be repeated (default: this directory)", collect, [])
    .action(run<DevFlags>(async (call) => (await import("./dev.ts")).dev(call)));
}
