/** Words that the project does not use, and the words for them. */
export interface Pattern {
  readonly words: RegExp;
  readonly instead: string;
}

/** "Queries of your own table" is natural, "a table of your own" is not. */
const OWN = String.raw`\bof\s+(?:my|your|its|his|their|our|one's)\s+own(?=\s*(?:[^\w\s]|$|(?:is|are|was|has|have|can|may|must|that|which|and|or|in|on|to|for|with|by|as|at|of|from|when|where|beside|below|instead)\b))`;
/** Checked in scripts and tests as well. */
export const EVERYWHERE: readonly Pattern[] = [
  { words: /\b(?:nobody|somebody|whoever)\b/gi, instead: "anonymous, signed-in user, anyone who" },
  {
    words: /\b(?:all|any|each|half|most|name|none|some|end)\s+of\s+it\b/gi,
    instead: "the noun: the whole body, most of this time",
  },
  { words: /(?<!\bsuch\s+)\bas\s+those\b/gi, instead: "like that of X, as X does" },
  {
    words:
      /\bof\s+(?!up\s)(?:(?!and\b|or\b|th(?:ose|at)\b)[\w'-]+\s+){1,3}of\s+(?:(?!and\b|or\b|th(?:ose|at)\b)[\w'-]+\s+){1,3}of\b/gi,
    instead: "no chain of three nouns with of",
  },
  { words: /(?<!\bsuch\s+)\bas\s+one\s+that\b|\band\s+none\s+if\b/gi, instead: "exactly as if, and never if" },
];
export const PATTERNS: readonly Pattern[] = [
  ...EVERYWHERE,
  { words: /\bf(?:ou|i)nds?\s+out\b/gi, instead: "determine, authenticate" },
  { words: /\b(?:is|are|was|were|be|been)\s+(?:told|heard|asked)\b/gi, instead: "is notified, receives, is called" },
  { words: /\bmend(?:s|ed|ing)?\b/gi, instead: "fix" },
  { words: /\bleaf(?:s|ed|ing)?\s+through\b/gi, instead: "page through" },
  { words: /\bfor\s+ever\b/gi, instead: "0 disables the limit, never expires" },
  { words: new RegExp(OWN, "gi"), instead: "your own X, a custom X" },
  {
    words: /(?<!\bthere\s+)\b(?:is|are|was|were)\s+(?:none\b|no\s+(?!longer|more|less|fewer|later|earlier|other)\w+)/gi,
    instead: "is not a valid X, is not an X",
  },
  { words: /\b(?:do|does|did)\s+not\s+count\b|\bstill\s+counts?\b/gi, instead: "is not valid, is still valid" },
  { words: /\b(?:is|are|was|were)\s+(?:away|over)\b(?!\s+(?:the|a|an|\d))/gi, instead: "is unavailable, has ended" },
  { words: /\b(?:the|a|an|every|each|this)\s+answers?\b/gi, instead: "the response" },
  { words: /\b(?:a|the|this|each|every|public)\s+doors?\b/gi, instead: "entry point" },
  { words: /\bthe\s+checker\b/gi, instead: "TypeScript, the compiler" },
  { words: /\b(?:a|the|lower)\s+ranks?\b|\b(?:the\s+house|house\s+style)\b/gi, instead: "layer, source tree" },
  // The beginning of a sentence, a heading or a list item, unless it is a question.
  {
    words: /(?<=^\s*(?:(?:[-*]|\d+\.|#+)\s+(?:\*\*)?)?|[.!?]\)?\s+)(?:What|Who|Whatever)\s(?![^.!?|\n]*\?)/gm,
    instead: "the noun itself: no sentence begins with What or Who",
  },
  {
    words: /\|\s*(?:what|who|whatever)\s(?![^|\n]*\?)/gi,
    instead: "the noun itself: no table cell begins with What or Who",
  },
];

/** One word for one thing, and the one that people search for. "Social login" and "login CSRF" are such words. */
export const PAGE_PATTERNS: readonly Pattern[] = [
  ...PATTERNS,
  {
    words: /\b(?:log(?:s|ged|ging)?[ -]in|(?<!social )logins?(?! CSRF))\b/gi,
    instead: "sign in (verb), sign-in (noun)",
  },
  { words: /\bexplorers?\b/gi, instead: "GraphiQL" },
];

export const COMMENT_PATTERNS: readonly Pattern[] = [
  ...PATTERNS,
  { words: /^\s*The same\b/g, instead: "what it is: no comment begins with The same" },
];
