import { PorticoApp, PorticoError, prometheus, ServiceUnavailable } from "portico";
import { liveClient } from "portico/testing";
import { expect, it, onTestFinished } from "vitest";
import { samplesIn } from "./parse-prometheus.ts";

class Stopped extends Error {}

it("every 503 is counted with its reason, whichever way it is sent", async () => {
  const metrics = prometheus();
  const release = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const app = new PorticoApp({ logger: false, load: { maxInFlight: 1 }, timeouts: { handlerSeconds: 0.05 } });
  app.onRequest(metrics).addExceptionHandler(Stopped, (_request, response) => response.status(503).json({}));
  app.get("/written", ({ response }) => response.status(503).json({}));
  app.get("/thrown", () => {
    throw new ServiceUnavailable("Try again later");
  });
  app.get("/outage", () => {
    throw new PorticoError("STORE_UNAVAILABLE", "Redis does not respond", { status: 503 });
  });
  app.get("/handled", () => {
    throw new Stopped();
  });
  app.get("/late", () => new Promise(() => {}));
  app.get("/slow", { timeoutSeconds: 0 }, () => {
    entered.resolve();
    return release.promise;
  });
  const client = await liveClient(app);
  onTestFinished(() => client.close());
  const paths = ["/written", "/thrown", "/outage", "/handled", "/late"];

  const statuses: number[] = [];
  for (const path of paths) statuses.push((await client.get(path)).status);
  const slow = client.get("/slow");
  await entered.promise;
  for (const path of paths.slice(0, 3)) statuses.push((await client.get(path)).status);
  release.resolve();
  await slow;

  const samples = samplesIn(metrics.text());
  const reasons = samples.filter(({ name }) => name === "portico_unavailable_responses_total");
  const counted = samples.filter(
    ({ name, labels }) => name === "portico_http_request_duration_seconds_count" && labels["status"] === "503",
  );
  expect(new Set(statuses)).toEqual(new Set([503]));
  expect(Object.fromEntries(reasons.map(({ labels, value }) => [labels["reason"], value]))).toEqual({
    RESPONSE: 1,
    SERVICE_UNAVAILABLE: 1,
    STORE_UNAVAILABLE: 1,
    EXCEPTION: 1,
    HANDLER_TIMEOUT: 1,
    OVERLOADED: 3,
  });
  expect(counted.reduce((sum, { value }) => sum + value, 0)).toBe(statuses.length);
});
