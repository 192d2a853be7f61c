import { mutation, subscription, t } from "portico/graphql";
import {
  firstUnknown,
  type GraphPlace,
  gatedList,
  gatedObject,
  graphPlace,
  resultOf,
  SELECTED,
  selectedOf,
} from "./graph-place.ts";
import type { Owner } from "./model.ts";
import type { Place, Sight, View } from "./place.ts";
import { canaryOf, OWNERS, rowOf, rows } from "./probe.ts";
import { gateOf, unknownCode } from "./rest-places.ts";
import { guardedType } from "./type-places.ts";

/** A mutation whose result is refused fails, and its work is undone, with that of the other fields of the operation. */
function failure(key: string, code: string, { transport }: View): Sight {
  const [result] = resultOf(key, null, [`${key} ${code}`]) as [{ data: object; errors: readonly string[] }];
  const isMore = transport === "multipart";
  const shown = isMore
    ? [{ data: { ...result.data, sent: null }, errors: [...result.errors, "sent ROLLED_BACK"] }]
    : [result];
  return { shown, revealed: [], outcome: "failure" };
}

const places: readonly GraphPlace[] = [
  {
    name: "result of a mutation",
    hasObject: true,
    type: "mutation",
    declare(site, { gate }) {
      const Saved = guardedType(site, "Saved", gate);
      const params = { owner: t.string, work: site.probe.work };
      site.mutation["save"] = mutation(Saved, { params })(({ owner }) => rowOf(owner as Owner));
    },
    selection: (owner) => `save(owner: "${owner}") ${SELECTED}`,
    expected(view) {
      const found = view.verdict(view.owner);
      if (found.is === "allowed") return { ...gatedObject("save")(view), outcome: "success" };
      return failure("save", found.is === "denied" ? "NOT_FOUND" : found.code, view);
    },
  },
  {
    name: "list as the result of a mutation",
    isVariant: true,
    hasObject: true,
    isList: true,
    type: "mutation",
    declare(site, { gate }) {
      const Stored = guardedType(site, "Stored", gate);
      const params = { work: site.probe.work };
      site.mutation["store"] = mutation(t.list(Stored), { params })(async () => rows);
    },
    selection: () => `store ${SELECTED}`,
    expected(view) {
      const unknown = firstUnknown(view);
      if (unknown !== null) return failure("store", unknown, view);
      if (OWNERS.some((owner) => view.verdict(owner).is === "denied")) return failure("store", "NOT_FOUND", view);
      return { ...gatedList("store")(view), outcome: "success" };
    },
  },
  {
    name: "events of a subscription",
    hasObject: true,
    isList: true,
    type: "subscription",
    declare(site, { gate }) {
      site.subscription["event"] = subscription(guardedType(site, "Event", gate))(async function* () {
        yield* rows;
      });
    },
    selection: () => `event ${SELECTED}`,
    expected: ({ verdict }) => ({
      shown: OWNERS.flatMap((owner) => {
        const found = verdict(owner);
        if (found.is === "allowed") return resultOf("event", selectedOf(owner));
        return found.is === "unknown" ? resultOf("event", null, [`event ${found.code}`]) : [];
      }),
      revealed: OWNERS.filter((owner) => verdict(owner).is === "allowed"),
    }),
  },
  {
    name: "lists as the events of a subscription",
    isVariant: true,
    hasObject: true,
    isList: true,
    type: "subscription",
    declare(site, { gate }) {
      site.subscription["events"] = subscription(t.list(guardedType(site, "Burst", gate)))(async function* () {
        yield rows;
      });
    },
    selection: () => `events ${SELECTED}`,
    expected(view) {
      const isEmpty = OWNERS.every((owner) => view.verdict(owner).is === "denied");
      return isEmpty ? { shown: [], revealed: [] } : gatedList("events")(view);
    },
  },
];

/** A generator that decides about its events itself. A gate that is `false` has no meaning there. */
const heard: Place = {
  ...graphPlace({
    name: "events that a generator decides about",
    hasObject: true,
    isList: true,
    type: "subscription",
    declare({ subscription: root, probe }, { gate: { auth } }) {
      root["heard"] = subscription(t.string)(async function* ({ ctx }) {
        for (const row of rows) {
          const isAllowed = auth === undefined ? true : await ctx.can(gateOf(auth), row).catch(unknownCode);
          yield isAllowed === true ? probe.reveal(row.owner) : String(isAllowed);
        }
      });
    },
    selection: () => "heard",
    expected: ({ verdict }) => ({
      shown: OWNERS.flatMap((owner) => {
        const found = verdict(owner);
        if (found.is === "allowed") return resultOf("heard", canaryOf(owner));
        return resultOf("heard", found.is === "denied" ? "false" : `unknown ${found.code}`);
      }),
      revealed: OWNERS.filter((owner) => verdict(owner).is === "allowed"),
    }),
  }),
  takes: ({ kind }) => kind !== "false",
};

export const eventPlaces: readonly Place[] = [...places.map(graphPlace), heard];
