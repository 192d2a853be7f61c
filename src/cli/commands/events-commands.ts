import type { Command } from "commander";
import { CommandFailed } from "../output/command-failed.ts";
import { countText } from "../output/count-text.ts";
import { type Result, sentence } from "../output/result.ts";
import { tableLines } from "../output/table-lines.ts";
import type { Call, RunCommand } from "./runner.ts";

interface RetryFlags {
  readonly key?: string;
}

/** The events that are listed at most. */
const MAX_LISTED = 100;

/** `portico events` */
export function eventsCommands(program: Command, run: RunCommand): void {
  const group = program
    .command("events")
    .description("Lists the events that consumers failed to handle, and retries them.");
  group
    .command("list")
    .description("Lists the oldest events that failed, and those that wait behind them or were set aside.")
    .action(run(listEvents));
  group
    .command("retry")
    .description("Lets a consumer handle its failed events again, also those that were set aside.")
    .argument("<consumer>", "the name of the consumer")
    .option("--key <text>", "only the events with this key (default: all)")
    .action(run(retryEvents));
}

async function listEvents({ project }: Call<object>): Promise<Result> {
  const { listFailedEvents } = await import("../../sql/outbox/failed-events.ts");
  const found = await listFailedEvents(await project.database(), MAX_LISTED);
  const events = found.map(({ consumer, seq, topic, key, failures, isSetAside, error }) => {
    return { consumer, seq, topic, key, failures, isSetAside, error };
  });
  const rows = events.map(({ isSetAside, ...event }) => {
    return { ...event, state: isSetAside ? "set aside" : "is retried" };
  });
  const columns = {
    consumer: "consumer",
    seq: "event",
    topic: "topic",
    key: "key",
    state: "state",
    failures: "failures",
    error: "error",
  };
  return { data: { events }, lines: rows.length === 0 ? ["no failed events"] : tableLines(rows, columns) };
}

async function retryEvents({ project, options, words: [consumer = ""] }: Call<RetryFlags>): Promise<Result> {
  const { retryFailedEvents } = await import("../../sql/outbox/failed-events.ts");
  const count = await retryFailedEvents(await project.database(), consumer, options.key ?? null);
  if (count === 0) throw new CommandFailed(`the consumer ${JSON.stringify(consumer)} has no such failed events`);
  return sentence(`${countText(count, "event")} of ${consumer} will be handled again`, { consumer, retried: count });
}
