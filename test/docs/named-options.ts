import { declarationOf } from "../../docs/.vitepress/declaration-of.ts";
import { doors } from "../../docs/.vitepress/doors.ts";
import { read } from "../../scripts/package/repository.ts";
import { withoutBlocks } from "./markdown.ts";

/** An option that a page names, and the interfaces that should have it; without any, some interface should. */
export interface NamedOption {
  /** `docs/reference/app.md:57`. */
  readonly at: string;
  /** `maxBody`, or `timeouts.graceSeconds`. */
  readonly name: string;
  readonly interfaces: readonly string[];
}

// Indented in an interface, and after `readonly` in the parts of a type.
const MEMBER = /(?:^ {2}|\breadonly )(?!readonly )(?<name>\w+)\??[(:]/gm;
const CODE = /`(?<code>[^`\n]+)`/g;
const INTERFACE = /^\w+(?:Options|Config)$/;
const OPTION_NAME = /^[a-z]\w*(?:\.[a-z]\w*)*$/;

/** The rows of every table whose first column is headed "option". */
export function optionsInTables(page: string): readonly NamedOption[] {
  const lines = read(page).split("\n");
  const named: NamedOption[] = [];
  let interfaces: readonly string[] | null = null;
  for (const [i, line] of lines.entries()) {
    if (!line.startsWith("|")) interfaces = null;
    else if (/^\|\s*options?\b/i.test(line)) interfaces = interfacesAbove(lines, i);
    else if (interfaces !== null)
      for (const name of codeIn(firstCell(line)).filter((code) => OPTION_NAME.test(code)))
        named.push({ at: `${page}:${i + 1}`, name, interfaces });
  }
  return named;
}

/** Options that the text names with their group, such as `timeouts.graceSeconds`. */
export function optionsInText(page: string): readonly NamedOption[] {
  const groups = optionGroups();
  return withoutBlocks(read(page))
    .split("\n")
    .flatMap((line) => codeIn(line).map((name) => ({ at: `${page}: ${name}`, name, interfaces: [] })))
    .filter(
      ({ name }) => OPTION_NAME.test(name) && name.includes(".") && (groups.get(name.split(".")[0] ?? "") ?? "") !== "",
    );
}

/** Overloads of `response.paginate` add it to `PaginateOptions`. */
const ADDED: Readonly<Record<string, readonly string[]>> = { PaginateOptions: ["dataHandler"] };

/** Whether an interface of the package declares the option. */
export function isOption({ name, interfaces }: NamedOption): boolean {
  const [group = "", member] = name.split(".");
  if (member !== undefined) return membersOf(optionGroups().get(group) ?? "").has(member);
  const places = interfaces.length > 0 ? interfaces : allInterfaces();
  return places.some((place) => membersOf(place).has(name));
}

/** The head of the table names its interface, or the last paragraph or heading above it does. */
function interfacesAbove(lines: readonly string[], head: number): readonly string[] {
  const known = (text: string): readonly string[] =>
    codeIn(text)
      .map((code) => (INTERFACE.test(code) ? code : `${code.slice(0, 1).toUpperCase()}${code.slice(1)}Options`))
      .filter((name) => membersOf(name).size > 0);
  const own = known(firstCell(lines[head] ?? ""));
  if (own.length > 0) return own;
  const above = lines.slice(0, head);
  const paragraph = above.slice(above.findLastIndex((line, i) => line === "" && above[i + 1] !== undefined) + 1);
  const heading = above.findLast((line) => line.startsWith("#")) ?? "";
  return (
    [paragraph.join(" "), heading]
      .map((text) => known(text).filter((name) => text.includes(name)))
      .find((names) => names.length > 0) ?? []
  );
}

/** `timeouts` is a `TimeoutOptions`: the groups of `PorticoApp` and of `Graph`. */
function optionGroups(): ReadonlyMap<string, string> {
  const declared = ["PorticoAppOptions", "GraphOptions"].flatMap((name) => [
    ...signatureOf(name).matchAll(/^ {2}readonly (\w+)\?: (.*)$/gm),
  ]);
  return new Map(declared.map(([, group = "", type = ""]) => [group, /\b\w+Options\b/.exec(type)?.[0] ?? ""]));
}

const members = new Map<string, ReadonlySet<string>>();

function membersOf(name: string): ReadonlySet<string> {
  const known = members.get(name);
  if (known !== undefined) return known;
  const signature = signatureOf(name);
  const own = [...signature.matchAll(MEMBER)].map(({ groups }) => groups?.["name"] ?? "");
  // The first line names what it extends, the lines of a type what it is made of.
  const bases =
    (signature.startsWith("type ") ? signature : (signature.split("\n")[0] ?? "")).match(/\b\w+Options\b/g) ?? [];
  const all = new Set([
    ...own,
    ...(ADDED[name] ?? []),
    ...bases.filter((base) => base !== name).flatMap((base) => [...membersOf(base)]),
  ]);
  members.set(name, all);
  return all;
}

function signatureOf(name: string): string {
  if (!INTERFACE.test(name)) return "";
  return doors.map(([, file]) => declarationOf(file, name)?.signature ?? "").find((text) => text !== "") ?? "";
}

function allInterfaces(): readonly string[] {
  return [...new Set(doors.flatMap(([, file]) => read(file).match(/\b\w+Options\b/g) ?? []))];
}

function firstCell(row: string): string {
  return row.split("|")[1] ?? "";
}

function codeIn(text: string): readonly string[] {
  return [...text.matchAll(CODE)].map(({ groups }) => groups?.["code"] ?? "");
}
