import type { RequestOptions } from "./request.ts";

/** The HTTP methods that the client has a function for. */
export type Method = "get" | "post" | "put" | "patch" | "delete";

/** The paths of any server, for a client without generated types. */
export type AnyPaths = Readonly<Record<string, Readonly<Record<Method, AnyOperation>>>>;

interface AnyOperation {
  readonly parameters: {
    readonly path?: Readonly<Record<string, string | number>>;
    readonly query?: Readonly<Record<string, unknown>>;
  };
  readonly requestBody?: { readonly content: { readonly "application/json": unknown } };
  // A server that is not described may return anything.
  readonly responses: { readonly 200: { readonly content: { readonly "application/json": any } } };
}

/** The paths that have this method. */
export type PathOf<Paths, M extends Method> = {
  [P in keyof Paths]: Paths[P] extends { readonly [K in M]: object } ? P : never;
}[keyof Paths] &
  string;

/** An operation of the OpenAPI document. */
export type OperationOf<Paths, P extends keyof Paths, M extends Method> = Paths[P] extends {
  readonly [K in M]: infer Operation;
}
  ? Operation
  : never;

/** The options of a REST request: `path`, `query` and `body`, as far as the operation has them. */
export type RestOptions<Operation> = PathPart<Operation> & QueryPart<Operation> & BodyPart<Operation> & RequestOptions;

/** The options may be left out if the operation requires none of them. */
export type OptionsArgument<Options> = {} extends Options ? [options?: Options] : [options: Options];

type PathPart<Operation> = Operation extends { readonly parameters: { readonly path: infer Path extends object } }
  ? { readonly path: Path }
  : Operation extends { readonly parameters: { readonly path?: infer Path extends object } }
    ? { readonly path?: Path }
    : { readonly path?: undefined };

type QueryPart<Operation> = Operation extends { readonly parameters: { readonly query: infer Query extends object } }
  ? { readonly query: Query }
  : Operation extends { readonly parameters: { readonly query?: infer Query extends object } }
    ? { readonly query?: Query }
    : { readonly query?: undefined };

type BodyPart<Operation> = Operation extends { readonly requestBody: { readonly content: infer Content } }
  ? { readonly body: BodyOf<Content> }
  : Operation extends { readonly requestBody?: { readonly content: infer Content } }
    ? { readonly body?: BodyOf<Content> }
    : { readonly body?: undefined };

type BodyOf<Content> = Content extends { readonly "application/json": infer Body } ? Body : FormData | Blob | string;

type Success = 200 | 201 | 202 | 203 | 204 | 205 | 206;

/** The body of the successful response of an operation. */
export type ResponseOf<Operation> = Operation extends { readonly responses: infer Responses }
  ? { [Status in keyof Responses & Success]: ContentOf<Responses[Status], Status> }[keyof Responses & Success]
  : unknown;

type ContentOf<Response, Status> = Response extends { readonly content: infer Content extends object }
  ? Content extends { readonly "application/json": infer Body }
    ? Body
    : keyof Content extends `text/${string}`
      ? string
      : Blob
  : Status extends 204 | 205
    ? undefined
    : unknown;

/** An item of a page. */
export type ItemOf<Page> = Page extends { readonly items: readonly (infer Item)[] } ? Item : any;

/** The paths of lists: their responses are pages. */
export type ListPathOf<Paths> = {
  [P in PathOf<Paths, "get"> & keyof Paths]: ResponseOf<OperationOf<Paths, P, "get">> extends {
    readonly items: readonly unknown[];
    readonly pagination: unknown;
  }
    ? P
    : never;
}[PathOf<Paths, "get"> & keyof Paths];
