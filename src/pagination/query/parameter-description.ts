/** A query parameter in the OpenAPI document. */
export interface ParameterDescription {
  readonly name: string;
  readonly description: string;
  /** The JSON Schema. The value of an array is a comma-separated list. */
  readonly schema: Readonly<Record<string, unknown>>;
}
