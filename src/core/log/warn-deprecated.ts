/** Something that still works, and the replacement for it. */
export interface Deprecation {
  /** As users write it, such as `PorticoApp.origin`. */
  readonly name: string;
  /** As users write it, such as `PorticoApp.origins`. */
  readonly instead: string;
  /** The version in which it ends. */
  readonly endsIn: `${number}.${number}.0`;
}

const warned = new Set<string>();

/**
 * Prints once per process that something is deprecated, with its replacement and the version in which it ends. As a warning
 * of Node, it shows the call with `--trace-deprecation`, and `--no-deprecation` hides it.
 */
export function warnDeprecated({ name, instead, endsIn }: Deprecation): void {
  // Names are constants of the sources, so there are few.
  if (warned.has(name)) return;
  warned.add(name);
  process.emitWarning(`${name} is deprecated and ends in Portico ${endsIn}: use ${instead}`, {
    type: "DeprecationWarning",
    code: "PORTICO_DEPRECATED",
  });
}
