/** Creates errors without stack traces, which cost more than everything else about them. */
export function withoutStack<T>(make: () => T): T {
  const { stackTraceLimit } = Error;
  // Fails quietly where the global objects are frozen.
  Reflect.set(Error, "stackTraceLimit", 0);
  try {
    return make();
  } finally {
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  }
}
