import { UsageError } from "./cannot-create.ts";

const MAX_LENGTH = 214;
const NAME = /^(?:@[a-z\d~-][a-z\d._~-]*\/)?[a-z\d~-][a-z\d._~-]*$/;

/** Checks the name of the new package. Throws `UsageError` if npm would reject it, or could not install `dependencies`. */
export function checkPackageName(name: string, dependencies: readonly string[]): void {
  if (name.length > MAX_LENGTH) throw new UsageError(`The package name has more than ${MAX_LENGTH} characters`);
  if (!NAME.test(name) || name === "node_modules")
    throw new UsageError(`"${name}" is not a valid package name${suggestion(name)}`);
  if (dependencies.includes(name))
    throw new UsageError(`The package can't be named "${name}", because it depends on the package ${name}`);
}

function suggestion(name: string): string {
  const valid = name
    .toLowerCase()
    .replaceAll(/[^a-z\d~-]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return NAME.test(valid) ? `. Try "${valid}"` : ". Use lower-case letters, digits and hyphens";
}

/** The name without its scope, for titles and prefixes. It is safe inside a string, even if npm would reject the name. */
export function shortName(name: string): string {
  return name.slice(name.indexOf("/") + 1).replaceAll(/[^\w.~-]/g, "-");
}
