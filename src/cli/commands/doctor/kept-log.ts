import type { Logger, LogLine } from "../../../core/logger.ts";

/** A logger that keeps warnings and errors, because a command prints its result only. */
export function keptLog(said: string[]): Logger {
  const keep: LogLine = (details, sentence) => {
    const { routes } = details as { readonly routes?: readonly string[] };
    said.push(routes === undefined ? sentence : `${sentence} (${routes.join(", ")})`);
  };
  const logger: Logger = {
    level: "warn",
    trace: drop,
    debug: drop,
    info: drop,
    warn: keep,
    error: keep,
    fatal: keep,
    child: () => logger,
  };
  return logger;
}

const drop: LogLine = () => {};
