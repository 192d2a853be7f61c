import { PorticoError } from "../../core/portico-error.ts";

/**
 * The two halves of an authorization rule disagree about a row. The response is 500 instead of a page with that row,
 * and the log names the rule.
 */
export class RuleDisagreement extends PorticoError {
  override readonly name: string = "RuleDisagreement";
  constructor(rule: string) {
    super("RULE_DISAGREEMENT", `\`where\` of the rule ${rule} includes a row that \`allows\` refuses`);
  }
}
