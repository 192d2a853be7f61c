import { connection, field, type InterfaceType, type ObjectType, object, t } from "portico/graphql";
import { CursorPagination } from "portico/pagination";
import { every, SIGNED_IN } from "./forms.ts";
import { type GraphPlace, gatedList, gatedObject, graphPlace, SELECTED, selectedOf } from "./graph-place.ts";
import type { Owner } from "./model.ts";
import type { Place, Site } from "./place.ts";
import { OWNERS, type Row, rowOf, rows } from "./probe.ts";

const owned = { params: { owner: t.string } } as const;
const rowFor = ({ owner }: { readonly owner: string }): Row => rowOf(owner as Owner);
const calling =
  (name: string, rest = SELECTED) =>
  (owner: Owner): string =>
    `${name}(owner: "${owner}") ${rest}`;
const listing =
  (name: string, rest = SELECTED) =>
  (): string =>
    `${name} ${rest}`;

/** The fields of a guarded object. */
function secretFields({ probe }: Site): never {
  const secret = field(t.string)(({ parent }: { readonly parent: Row }) => probe.reveal(parent.owner));
  return { id: t.id, owner: t.string, plain: t.string, secret } as never;
}

/** A type whose objects the gate guards. */
export function guardedType(site: Site, name: string, options: object): ObjectType<Row> {
  return object(name, secretFields(site), options as never);
}

const openType = (name: string): ObjectType<Row> => object(name, { id: t.id });
const byId = new CursorPagination({ sortField: "id" });
const query = { hasObject: true, type: "query" } as const;
const list = { ...query, isList: true } as const;

const places: readonly GraphPlace[] = [
  {
    ...query,
    name: "object",
    declare(site, { gate }) {
      site.query["one"] = field(guardedType(site, "One", gate), owned)(rowFor);
    },
    selection: calling("one"),
    expected: gatedObject("one"),
  },
  {
    ...query,
    name: "object from a promise",
    isVariant: true,
    declare(site, { gate }) {
      site.query["later"] = field(t.nullable(guardedType(site, "Later", gate)), owned)(async (args) => rowFor(args));
    },
    selection: calling("later"),
    expected: gatedObject("later"),
  },
  {
    ...query,
    name: "object as a property",
    isVariant: true,
    declare(site, { gate }) {
      const Inner = guardedType(site, "Inner", gate);
      const Outer: ObjectType<{ readonly inner: Row }> = object("Outer", { inner: Inner });
      site.query["outer"] = field(Outer, owned)((args) => ({ inner: rowFor(args) }));
    },
    selection: calling("outer", `{ inner ${SELECTED} }`),
    expected: gatedObject("outer.inner", (value) => ({ inner: value })),
  },
  {
    ...list,
    name: "objects in a list",
    declare(site, { gate }) {
      site.query["list"] = field(t.list(guardedType(site, "Listed", gate)))(() => rows);
    },
    selection: listing("list"),
    expected: gatedList("list"),
  },
  {
    ...list,
    name: "objects in a list of lists",
    isVariant: true,
    declare(site, { gate }) {
      site.query["lists"] = field(t.list(t.list(guardedType(site, "Nested", gate))))(async () => [rows]);
    },
    selection: listing("lists"),
    expected: gatedList("lists", (items) => [items]),
  },
  {
    ...list,
    name: "objects in a list with nullable items",
    isVariant: true,
    declare(site, { gate }) {
      site.query["sparse"] = field(t.list(t.nullable(guardedType(site, "Sparse", gate))))(() => rows);
    },
    selection: listing("sparse"),
    expected(view) {
      const items = OWNERS.map((owner) => (view.verdict(owner).is === "allowed" ? selectedOf(owner) : null));
      return gatedList("sparse", () => items)(view);
    },
  },
  {
    ...list,
    name: "nodes of a connection",
    declare(site, { gate }) {
      site.query["nodes"] = connection(guardedType(site, "Node", gate), byId)(() => rows);
    },
    selection: listing("nodes", `{ nodes ${SELECTED} }`),
    expected: gatedList("nodes", (items) => ({ nodes: items })),
  },
  {
    ...list,
    name: "edges of a connection",
    isVariant: true,
    declare(site, { gate }) {
      site.query["edges"] = connection(guardedType(site, "Linked", gate), byId)(async () => rows);
    },
    selection: listing("edges", `{ edges { node ${SELECTED} } }`),
    expected: gatedList("edges", (items) => ({ edges: items.map((node) => ({ node })) })),
  },
  {
    ...query,
    name: "member of a union",
    declare(site, { gate }) {
      const members = [guardedType(site, "Member", gate), openType("Free")] as const;
      const Any = t.union("Any", members, { resolveType: () => "Member" });
      site.query["any"] = field(Any, owned)(rowFor);
    },
    selection: calling("any", `{ ... on Member ${SELECTED} }`),
    expected: gatedObject("any"),
  },
  {
    ...list,
    name: "members of a union in a list",
    declare(site, { gate }) {
      const members = [guardedType(site, "Paid", gate), openType("Gratis")] as const;
      const Mixed = t.union("Mixed", members, { resolveType: ({ id }: Row) => (id === "free" ? "Gratis" : "Paid") });
      site.query["mixed"] = field(t.list(Mixed))(() => [...rows, { ...rowOf("mine"), id: "free" }]);
    },
    selection: listing("mixed", `{ ... on Paid ${SELECTED} ... on Gratis { id } }`),
    expected: gatedList("mixed", (items) => [...items, { id: "free" }]),
  },
  {
    ...query,
    name: "interface",
    declare(site, { gate }) {
      const Face: InterfaceType<Row> = t.interface("Face", secretFields(site), { ...gate, resolveType: () => "Faced" });
      const Faced: ObjectType<Row> = object("Faced", {}, { implements: [Face] });
      site.query["face"] = field(Face, owned)(rowFor);
      site.query["faced"] = field(Faced, owned)(rowFor);
    },
    selection: calling("face"),
    expected: gatedObject("face"),
  },
  {
    ...list,
    name: "object of an interface with a gate",
    isVariant: true,
    declare(site, { gate }) {
      const Top: InterfaceType<Row> = t.interface("Top", secretFields(site), { ...gate, resolveType: () => "Bottom" });
      const Middle: InterfaceType<Row> = t.interface("Middle", {}, { implements: [Top], resolveType: () => "Bottom" });
      const Bottom: ObjectType<Row> = object("Bottom", {}, { implements: [Middle] });
      site.query["bottom"] = field(t.list(Bottom))(() => rows);
    },
    selection: listing("bottom"),
    expected: gatedList("bottom"),
  },
  {
    ...query,
    name: "object with auth: true of an interface with a gate",
    isVariant: true,
    declare(site, { gate }) {
      const Upper: InterfaceType<Row> = t.interface("Upper", secretFields(site), {
        ...gate,
        resolveType: () => "Lower",
      });
      const Lower: ObjectType<Row> = object("Lower", {}, { implements: [Upper], auth: true });
      site.query["lower"] = field(Upper, owned)(rowFor);
      site.query["lowerToo"] = field(Lower, owned)(rowFor);
    },
    selection: calling("lower"),
    expected: gatedObject("lower"),
    inEffect: (form) => every(form, SIGNED_IN),
  },
];

export const typePlaces: readonly Place[] = places.map(graphPlace);
