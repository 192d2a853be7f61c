import { isInstance } from "../../../core/describe-error.ts";
import { HttpException, type ValidationIssue } from "../../../kernel/exceptions/http-exception.ts";

/** 422: fields of a form are not acceptable. It has the code and the message of the first one, and lists all as `errors`. */
export class RefusedFields extends HttpException {
  override readonly name: string = "RefusedFields";
  readonly issues: readonly ValidationIssue[];

  /** @param fields the outcome of each field; those that are not a `HttpException` are left out */
  constructor(fields: Readonly<Record<string, unknown>>) {
    const refused = Object.entries(fields).flatMap(([field, error]) =>
      isInstance(error, HttpException) ? [{ field, error }] : [],
    );
    const first = refused[0]?.error;
    super(422, first?.message ?? "The form is not acceptable", first === undefined ? {} : { code: first.code });
    this.issues = refused.map(({ field, error }) => ({ in: "body", path: [field], message: error.message }));
  }

  override get members(): Readonly<Record<string, unknown>> {
    return { errors: this.issues };
  }
}

/** Returns what `read` returns, or the 422 that it throws. Other errors are thrown. */
export async function outcomeOf<T>(read: () => T | Promise<T>): Promise<T | HttpException> {
  try {
    return await read();
  } catch (error) {
    if (isInstance(error, HttpException) && error.status === 422) return error;
    throw error;
  }
}
