import { field, subscription, t } from "portico/graphql";
import { type Operation, operate } from "./graph-operation.ts";
import { overSocket, resultOf } from "./graph-place.ts";
import { type Owner, statusOf } from "./model.ts";
import type { Place, Site, Transport } from "./place.ts";
import { canaryOf } from "./probe.ts";

/** The endpoint itself has the gate, and the fields behind it have none. */
function endpointPlace(
  type: Operation["type"],
  transports: readonly Transport[],
  addField: (site: Site) => void,
): Place {
  const key = `${type}Behind`;
  return {
    name: `endpoint, for a ${type}`,
    hasObject: false,
    transports,
    declare(site, { gate }) {
      Object.assign(site.endpoint, gate);
      addField(site);
    },
    visit: (visit) => operate(visit, "/gated", { type, selection: `${key}(owner: "${visit.owner}")` }),
    expected(view) {
      const { transport, owner, verdict } = view;
      const found = verdict(owner);
      const early = overSocket(view);
      if (early !== null) return early;
      if (found.is === "allowed") return { shown: resultOf(key, canaryOf(owner)), revealed: [owner] };
      const status = statusOf(found.code);
      if (transport === "websocket") return { shown: `closed with ${status === 503 ? 1013 : 4403}`, revealed: [] };
      return { shown: { status, errors: [` ${found.code}`] }, revealed: [] };
    },
  };
}

export const endpointPlaces: readonly Place[] = [
  endpointPlace("query", ["post", "get", "batch", "multipart", "websocket", "sse"], ({ query, probe }) => {
    query["queryBehind"] = field(t.string, { params: { owner: t.string } })(({ owner }) =>
      probe.reveal(owner as Owner),
    );
  }),
  endpointPlace("subscription", ["websocket", "sse"], ({ subscription: root, probe }) => {
    root["subscriptionBehind"] = subscription(t.string, { params: { owner: t.string } })(async function* ({ owner }) {
      yield probe.reveal(owner as Owner);
    });
  }),
];
