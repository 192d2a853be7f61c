import { answerText, type SignInAnswer } from "./ask-stand-in.ts";
import { UNNAMED_METHOD } from "./sign-in.ts";

/**
 * A line for each result that some sign-ins have, with those sign-ins: `yes: session or jwt (two factors, a moment ago)`. Empty if
 * all of them have the same result.
 */
export function signInLines(answers: readonly SignInAnswer[]): readonly string[] {
  const results = new Set(answers.map(({ answer }) => answerText(answer)));
  if (results.size < 2) return [];
  const named = [...results].filter((result) => result !== "no");
  return [
    ...named.flatMap((result) => linesOf(result, answers)),
    ...(results.has("no") ? ["no: any other sign-in"] : []),
  ];
}

/** The methods with one level and age share a line. */
function linesOf(result: string, answers: readonly SignInAnswer[]): readonly string[] {
  const methods = new Map<string, string[]>();
  for (const { scope, credential, answer } of answers) {
    if (answerText(answer) !== result) continue;
    const words = credential === null ? "" : ` (${credential.words})`;
    const method = scope === null ? "any method" : scope === UNNAMED_METHOD ? "another method" : scope;
    methods.set(words, [...(methods.get(words) ?? []), method]);
  }
  return [...methods].map(([words, names]) => `${result}: ${names.join(" or ")}${words}`);
}
