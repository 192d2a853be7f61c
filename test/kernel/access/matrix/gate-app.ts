import { PorticoApp } from "portico";
import { field, Graph, mutation, schema, subscription, t } from "portico/graphql";
import { authOf } from "./auth-of.ts";
import type { Form } from "./forms.ts";
import { authenticating } from "./identities.ts";
import type { Guard, Place, Site } from "./place.ts";
import { Probe } from "./probe.ts";

export interface GateApp {
  readonly app: PorticoApp;
  readonly probe: Probe;
}

/** An application in which all of these places have the same gate. With `isUnguarded`, each of them lacks its check. */
export function gateApp(form: Form, places: readonly Place[], isUnguarded = false): GateApp {
  const app = new PorticoApp({ logger: false }).use(authenticating());
  const sent = { params: { file: t.upload } } as const;
  const site: Site = {
    app,
    query: { open: field(t.int)(() => 1), sent: field(t.nullable(t.int), sent)(() => 1) },
    mutation: { sent: mutation(t.nullable(t.int), sent)(() => 1) },
    subscription: {
      open: subscription(t.int)(async function* () {
        yield 1;
      }),
    },
    endpoint: {},
    probe: new Probe(),
  };
  const gate = { auth: authOf(form) };
  for (const place of places) place.declare(site, guardOf(gate, place, isUnguarded));
  const { query, mutation: changes, subscription: events } = site;
  const roots: object = { query, mutation: changes, subscription: events };
  const built = schema(roots as never);
  const options = { subscriptions: { operations: true, connectsPerMinute: 0 }, uploads: { enabled: true } };
  new Graph(built, options).mount(app);
  new Graph(built, { ...options, path: "/gated", ...site.endpoint }).mount(app);
  return { app, probe: site.probe };
}

function guardOf(gate: Guard["gate"], { drops }: Place, isUnguarded: boolean): Guard {
  if (!isUnguarded) return { gate, open: { auth: false } };
  return drops === true ? { gate, open: {} } : { gate: {}, open: {} };
}
