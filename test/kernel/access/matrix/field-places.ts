import {
  connection,
  field,
  type InterfaceType,
  mutation,
  type ObjectType,
  object,
  subscription,
  t,
} from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { OPEN } from "./forms.ts";
import { type GraphPlace, gatedField, graphPlace } from "./graph-place.ts";
import type { Owner } from "./model.ts";
import type { Place, Site } from "./place.ts";
import { type Row, rowOf } from "./probe.ts";

const owned = { params: { owner: t.string } } as const;
const rowFor = ({ owner }: { readonly owner: string }): Row => rowOf(owner as Owner);
const calling =
  (name: string, rest = "") =>
  (owner: Owner): string =>
    `${name}(owner: "${owner}")${rest}`;

/** The guarded value as a field of an object that has no gate itself. */
const secret = ({ probe }: Site, gate: object): unknown =>
  field(t.string, { ...gate })(({ parent }: { readonly parent: Row }) => probe.reveal(parent.owner));

function holder(name: string, fields: object, options: object = {}): ObjectType<Row> {
  return object(name, { id: t.id, ...fields } as never, options as never);
}

/** An object whose interface declares the gate of its field. */
function inheritedField(
  key: string,
  name: string,
  declareOwn: (site: Site, open: object) => object,
  more: Partial<GraphPlace> = { isVariant: true },
): GraphPlace {
  return {
    name,
    hasObject: true,
    type: "query",
    declare(site, { gate, open }) {
      const fields = { secret: secret(site, gate) };
      const Secret: InterfaceType<Row> = t.interface(`${key}Secret`, fields as never, { resolveType: () => key });
      const Memo = holder(key, declareOwn(site, open), { implements: [Secret] });
      site.query[key] = field(Memo, owned)(rowFor);
    },
    selection: calling(key, " { secret }"),
    expected: gatedField(`${key}.secret`, (value) => ({ secret: value })),
    ...more,
  };
}

const byId = new CursorPagination({ sortField: "id" });

const places: readonly GraphPlace[] = [
  {
    name: "query field",
    hasObject: false,
    type: "query",
    declare({ query, probe }, { gate }) {
      query["read"] = field(t.string, { ...owned, ...gate })(({ owner }) => probe.reveal(owner as Owner));
    },
    selection: calling("read"),
    expected: gatedField("read"),
  },
  {
    name: "mutation field",
    hasObject: false,
    type: "mutation",
    declare({ mutation: root, probe }, { gate }) {
      root["write"] = mutation(t.string, { ...owned, ...gate })(({ owner }) => probe.reveal(owner as Owner));
    },
    selection: calling("write"),
    expected: gatedField("write"),
  },
  {
    name: "subscription field",
    hasObject: false,
    type: "subscription",
    declare({ subscription: root, probe }, { gate }) {
      root["watch"] = subscription(t.string, { ...owned, ...gate })(async function* ({ owner }) {
        yield probe.reveal(owner as Owner);
      });
    },
    selection: calling("watch"),
    expected({ verdict, owner, ...view }) {
      const found = verdict(owner);
      if (found.is === "allowed") return gatedField("watch")({ verdict, owner, ...view });
      return { shown: [{ errors: [`watch ${found.code}`] }], revealed: [] };
    },
  },
  {
    name: "connection field",
    hasObject: false,
    type: "query",
    declare(site, { gate }) {
      const Item = holder("Item", { secret: secret(site, {}) });
      site.query["items"] = connection(Item, byId, { ...owned, ...gate })((args) => [rowFor(args)]);
    },
    selection: calling("items", " { nodes { secret } }"),
    expected: gatedField(
      "items",
      (value) => value,
      (text) => ({ nodes: [{ secret: text }] }),
    ),
  },
  {
    name: "field of an object",
    hasObject: true,
    type: "query",
    declare(site, { gate }) {
      const Box = holder("Box", { secret: secret(site, gate) });
      site.query["box"] = field(Box, owned)(rowFor);
    },
    selection: calling("box", " { secret }"),
    expected: gatedField("box.secret", (value) => ({ secret: value })),
  },
  {
    name: "property of an object",
    isVariant: true,
    hasObject: true,
    type: "query",
    declare(site, { gate }) {
      const Case = holder("Case", { plain: field(t.string, { ...gate }) });
      site.query["case"] = field(
        Case,
        owned,
      )((args) => ({
        ...rowFor(args),
        get plain() {
          return site.probe.reveal(args.owner as Owner);
        },
      }));
    },
    selection: calling("case", " { plain }"),
    expected: gatedField("case.plain", (value) => ({ plain: value })),
  },
  inheritedField("Inherited", "field with an inherited gate", () => ({}), {}),
  inheritedField("Redeclared", "redeclared field with an inherited gate", (site) => ({ secret: secret(site, {}) })),
  inheritedField("Dropped", "field that drops an inherited gate", (site, open) => ({ secret: secret(site, open) }), {
    isVariant: true,
    inEffect: () => OPEN,
    drops: true,
  }),
];

export const fieldPlaces: readonly Place[] = places.map(graphPlace);
