type Headers = Readonly<Record<string, string | undefined>>;

/** RFC 9110 section 5.6.2: the characters of a name. Other names cannot be sent in `Vary`. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;

/** The headers of a request. Records which of them are read, because a middleware may identify the caller by any of them. */
export class RecordedHeaders {
  readonly names: Set<string> = new Set();
  readonly read: Headers;

  constructor(headers: Headers) {
    const record = (name: string | symbol): void => {
      if (typeof name === "string" && NAME.test(name)) this.names.add(name.toLowerCase());
    };
    this.read = new Proxy(headers, {
      get(target, name) {
        record(name);
        return Reflect.get(target, name) as unknown;
      },
      has(target, name) {
        record(name);
        return Reflect.has(target, name);
      },
      getOwnPropertyDescriptor(target, name) {
        record(name);
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
    });
  }
}
