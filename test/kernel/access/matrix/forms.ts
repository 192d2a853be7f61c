/** How a function, a rule or a gate of the application decides. */
export type Decision =
  | "allows"
  | "refuses"
  | "by permission"
  | "by owner"
  | "returns text"
  | "fails"
  | "fails on theirs"
  | "throws 401"
  | "throws 403"
  | "throws 503";

/** A value of the option `auth`, as data: `authOf` makes the value, and the model decides what it means. */
export type Form =
  | { readonly kind: "true" }
  | { readonly kind: "false" }
  | {
      readonly kind: "useAuth";
      readonly scopes?: readonly ("jwt" | "apikey")[];
      readonly permissions?: readonly string[];
      readonly required?: false;
      readonly freshSeconds?: number;
      readonly level?: "mfa";
    }
  | { readonly kind: "function"; readonly takesPlace: boolean; readonly isAsync: boolean; readonly does: Decision }
  | {
      readonly kind: "rule";
      readonly isAsync: boolean;
      readonly does: Decision;
      readonly anonymous?: true;
      readonly where?: true;
    }
  /** A gate with a `check` that the application wrote. A copy has the other members of `useAuth()`. */
  | { readonly kind: "own"; readonly isCopy: boolean; readonly does: Decision }
  | { readonly kind: "every" | "some"; readonly of: readonly Form[] }
  | { readonly kind: "not"; readonly of: Form };

export const SIGNED_IN: Form = { kind: "true" };
export const OPEN: Form = { kind: "false" };
const useAuth = (options: Omit<Extract<Form, { kind: "useAuth" }>, "kind"> = {}): Form => ({
  kind: "useAuth",
  ...options,
});
const ofUser = (does: Decision): Form => ({ kind: "function", takesPlace: false, isAsync: false, does });
const ofUserLater = (does: Decision): Form => ({ kind: "function", takesPlace: false, isAsync: true, does });
const ofPlace = (does: Decision): Form => ({ kind: "function", takesPlace: true, isAsync: false, does });
const ofPlaceLater = (does: Decision): Form => ({ kind: "function", takesPlace: true, isAsync: true, does });
const rule = (does: Decision, more: { readonly anonymous?: true; readonly where?: true } = {}): Form => ({
  kind: "rule",
  isAsync: false,
  does,
  ...more,
});
const ruleLater = (does: Decision): Form => ({ kind: "rule", isAsync: true, does });
const own = (does: Decision): Form => ({ kind: "own", isCopy: false, does });
const copy = (does: Decision): Form => ({ kind: "own", isCopy: true, does });
export const every = (...of: readonly Form[]): Form => ({ kind: "every", of });
const some = (...of: readonly Form[]): Form => ({ kind: "some", of });
const not = (of: Form): Form => ({ kind: "not", of });

const fails = ofUser("fails");
const reads = useAuth({ permissions: ["read"] });
const fresh = useAuth({ freshSeconds: 600 });
const strong = useAuth({ level: "mfa" });

/** Every form of `auth`, by its name. */
export const forms: Readonly<Record<string, Form>> = {
  true: SIGNED_IN,
  false: OPEN,
  "useAuth()": useAuth(),
  "one scope": useAuth({ scopes: ["jwt"] }),
  "the other scope": useAuth({ scopes: ["apikey"] }),
  "a permission": reads,
  "a permission that no user has": useAuth({ permissions: ["read", "never"] }),
  "required: false": useAuth({ required: false }),
  "required: false with a permission": useAuth({ required: false, permissions: ["read"] }),
  freshSeconds: fresh,
  level: strong,
  "level and freshSeconds": useAuth({ level: "mfa", freshSeconds: 600 }),
  "all options": useAuth({ scopes: ["jwt"], permissions: ["read"], freshSeconds: 600, level: "mfa" }),
  "a function that allows": ofUser("allows"),
  "a function that refuses": ofUser("refuses"),
  "a function by permission": ofUser("by permission"),
  "a function that throws": fails,
  "a function that returns text": ofUser("returns text"),
  "a function that throws 401": ofUser("throws 401"),
  "a function that throws 403": ofUser("throws 403"),
  "a function that throws 503": ofUser("throws 503"),
  "an async function that allows": ofUserLater("allows"),
  "an async function that rejects": ofUserLater("fails"),
  "an async function that resolves to text": ofUserLater("returns text"),
  "a function of the place": ofPlace("by owner"),
  "an async function of the place": ofPlaceLater("by owner"),
  "a function of the place that sometimes throws": ofPlace("fails on theirs"),
  "a rule that allows": rule("allows"),
  "a rule that refuses": rule("refuses"),
  "a rule that fails": rule("fails"),
  "a rule by owner": rule("by owner"),
  "a rule by owner with where": rule("by owner", { where: true }),
  "an async rule by owner": ruleLater("by owner"),
  "an async rule that sometimes rejects": ruleLater("fails on theirs"),
  "a rule for anonymous callers": rule("by owner", { anonymous: true }),
  "a rule for anonymous callers that fails": rule("fails", { anonymous: true }),
  "a gate of the application": own("by permission"),
  "a gate of the application that fails": own("fails"),
  "a copied gate": copy("by permission"),
  "not(a copied gate)": not(copy("refuses")),
  "every(true, by permission)": every(SIGNED_IN, ofUser("by permission")),
  "every(true, fails)": every(SIGNED_IN, fails),
  "every(a permission, fails)": every(reads, fails),
  "every(fails, a permission)": every(fails, reads),
  "every(true, a rule by owner with where)": every(SIGNED_IN, rule("by owner", { where: true })),
  "some(a permission, the other scope)": some(reads, useAuth({ scopes: ["apikey"] })),
  "some(fails, true)": some(fails, SIGNED_IN),
  "some(true, fails)": some(SIGNED_IN, fails),
  "some(refuses, fails)": some(ofUser("refuses"), fails),
  "some(fails, refuses)": some(ofUserLater("fails"), ofUser("refuses")),
  "some(never, freshSeconds)": some(useAuth({ permissions: ["never"] }), fresh),
  "some(never, level)": some(useAuth({ permissions: ["never"] }), strong),
  "some(freshSeconds, never)": some(fresh, useAuth({ permissions: ["never"] })),
  "some(a permission, a rule by owner with where)": some(reads, rule("by owner", { where: true })),
  "some(fails, a rule by owner)": some(fails, rule("by owner")),
  "not(true)": not(SIGNED_IN),
  "not(fails)": not(fails),
  "not(refuses)": not(ofUser("refuses")),
  "not(a permission)": not(reads),
  "not(required: false)": not(useAuth({ required: false })),
  "not(a rule by owner)": not(rule("by owner")),
  "not(a rule that fails)": not(rule("fails")),
  "not(a gate that throws 503)": not(own("throws 503")),
  "not(not(fails))": not(not(fails)),
  "not(every(true, fails))": not(every(SIGNED_IN, fails)),
  "not(some(fails, refuses))": not(some(fails, ofUser("refuses"))),
  "every(true, not(a rule by owner with where))": every(SIGNED_IN, not(rule("by owner", { where: true }))),
  "every(true, some(not(a permission), freshSeconds))": every(SIGNED_IN, some(not(reads), fresh)),
  "some(every(a permission, not(fails)), a function of the place)": some(every(reads, not(fails)), ofPlace("by owner")),
  "every(some(true, fails), not(every(a permission, a rule by owner)))": every(
    some(SIGNED_IN, fails),
    not(every(reads, rule("by owner"))),
  ),
};

/** Whether a rule is part of the form: it needs an object to decide about. */
export function hasRule(form: Form): boolean {
  if (form.kind === "not") return hasRule(form.of);
  if (form.kind === "every" || form.kind === "some") return form.of.some(hasRule);
  return form.kind === "rule";
}

/** Whether the decision depends on the object or the place. */
export function isAboutOwner(form: Form): boolean {
  if (form.kind === "not") return isAboutOwner(form.of);
  if (form.kind === "every" || form.kind === "some") return form.of.some(isAboutOwner);
  return (form.kind === "rule" || form.kind === "function") && ["by owner", "fails on theirs"].includes(form.does);
}
