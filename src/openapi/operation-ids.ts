import { ConfigurationError } from "../core/configuration-error.ts";
import type { Route } from "../http/routing/route.ts";
import type { PathTemplate } from "./path-template.ts";

/** A route on one of its paths. */
export interface ListedOperation {
  readonly route: Route;
  readonly template: PathTemplate;
}

/**
 * Returns an id for each operation, in order: the route's `name`, or one built from its method and path
 * (`getBooksById`). Throws `ConfigurationError` if two routes have the same name.
 */
export function operationIds(operations: readonly ListedOperation[]): readonly string[] {
  const owners = new Map<string, Route>();
  for (const { route, template } of operations) {
    const name = chosenId(route, template);
    const owner = name === undefined ? undefined : owners.get(name);
    if (owner !== undefined) throw nameTaken(route, owner, name as string);
    if (name !== undefined) owners.set(name, route);
  }
  return operations.map(({ route, template }) => {
    const chosen = chosenId(route, template);
    if (chosen !== undefined) return chosen;
    const derived = `${route.method.toLowerCase()}${wordsOf(template.path) || "Root"}`;
    let id = derived;
    for (let count = 2; owners.has(id); count++) id = `${derived}${count}`;
    owners.set(id, route);
    return id;
  });
}

function chosenId({ description }: Route, { without }: PathTemplate): string | undefined {
  if (description.name === undefined || without === undefined) return description.name;
  return `${description.name}Without${capitalized(without)}`;
}

function nameTaken(route: Route, owner: Route, name: string): ConfigurationError {
  const place = `${route.method} ${route.path}`;
  return new ConfigurationError(`${place}.name`, `is "${name}", which ${owner.method} ${owner.path} already uses`);
}

/** Turns `/books/{id}/cover-image` into `BooksByIdCoverImage`. */
function wordsOf(path: string): string {
  return path
    .replaceAll("{", "/by/")
    .split(/[^A-Za-z0-9]+/)
    .map(capitalized)
    .join("");
}

export function capitalized(word: string): string {
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
}
