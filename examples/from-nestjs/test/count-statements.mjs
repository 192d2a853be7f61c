// Loaded before either version: counts its statements, and sends the count when the test asks for it.
import { subscribe } from "node:diagnostics_channel";

let count = 0;
subscribe("tracker.statements", () => {
  count += 1;
});
process.on("message", () => process.send(count));
// The channel to the test must not keep the process alive.
process.channel.unref();
