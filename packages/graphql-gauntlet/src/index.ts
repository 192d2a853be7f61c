export type { Answer } from "./answer.ts";
export { CannotRun, type Found } from "./discover.ts";
export { junitReport } from "./junit-report.ts";
export type { Check, HttpRow, Need, Row, Severity, SocketRow, Source } from "./row.ts";
export { rows } from "./rows.ts";
export { type Outcome, type Report, type Result, type RunOptions, runGauntlet } from "./run-gauntlet.ts";
export type { HttpRequest } from "./send.ts";
export { SPECIFICATION_DRAFT } from "./sources.ts";
export type { Conversation, SocketScript } from "./talk.ts";
