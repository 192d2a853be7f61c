// Compilers pass metadata to decorators only if this symbol exists when the class is evaluated, and Node does not define
// it yet. This module must be evaluated before any decorated class, so package.json lists the file that the build puts it
// in, in `sideEffects`.
const known = Symbol as { metadata?: symbol };
known.metadata ??= Symbol.for("Symbol.metadata");

/** The key under which a class holds the metadata of standard decorators. */
export const METADATA: symbol = known.metadata;
