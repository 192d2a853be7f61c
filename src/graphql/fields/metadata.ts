// Compilers give decorators a place for metadata only where this symbol exists when the class is evaluated. Node has none
// yet. This module must be evaluated before any decorated class, and is listed in the manifest's `sideEffects`.
const known = Symbol as { metadata?: symbol };
known.metadata ??= Symbol.for("Symbol.metadata");

/** Where a class keeps what standard decorators registered. */
export const METADATA: symbol = known.metadata;
