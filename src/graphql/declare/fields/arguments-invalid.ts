import type { StandardSchemaV1 } from "@standard-schema/spec";
import { BadRequest } from "../../../kernel/exceptions/http-exception.ts";
import { type ListedIssue, listIssues } from "../../../kernel/exceptions/list-issues.ts";

/** The arguments of a field do not match their schemas. `extensions.errors` lists the issues, as the response of a route does. */
export class ArgumentsInvalid extends BadRequest {
  override readonly name: string = "ArgumentsInvalid";
  readonly issues: readonly ListedIssue<"arguments">[];

  /** @param names the arguments with issues, by their names in the schema */
  constructor(names: readonly string[], issues: readonly StandardSchemaV1.Issue[]) {
    const sentence =
      names.length === 1
        ? `The argument ${names[0]} does not match its schema`
        : `The arguments ${names.slice(0, -1).join(", ")} and ${names.at(-1)} do not match their schemas`;
    super(sentence, { code: "BAD_USER_INPUT" });
    this.issues = listIssues("arguments", issues);
  }

  override get members(): Readonly<Record<string, unknown>> {
    return { errors: this.issues };
  }
}
