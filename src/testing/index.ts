export { type ActingOptions, actingAs } from "./acting-as.ts";
export { type GraphVariables, type TestClient, type TestRequest, testClient } from "./client.ts";
export type { GraphAsk, GraphResult } from "./graph-client.ts";
export { type LiveClient, liveClient } from "./live-client.ts";
export { type CaughtLine, type LogCatcher, logCatcher } from "./log-catcher.ts";
export { type ManualClock, manualClock } from "./manual-clock.ts";
export { resetLimits } from "./reset-limits.ts";
export type { TestResponse } from "./response.ts";
export { SocketRefused, type TestSocket, type TestSocketOptions } from "./test-socket.ts";
