import { DECIDING, type Question, TUNED } from "./docs/questions.ts";
import { siteSearch } from "./docs/site-search.ts";

// npm run docs:questions: asks the search of the site, and fails below 27 of the 30 questions that it isn't tuned with.
const MIN_FOUND = 27;
const SHOWN = 3;

const { search, close } = await siteSearch();
const tuned = ask("tuned", TUNED);
const deciding = ask("deciding", DECIDING);
await close();

console.log(
  `questions: ${tuned} of ${TUNED.length} that the index is tuned with, ${deciding} of ${DECIDING.length} others (at least ${MIN_FOUND})`,
);
process.exitCode = deciding < MIN_FOUND ? 1 : 0;

/** Returns how many are answered within the first results. */
function ask(half: string, questions: readonly Question[]): number {
  const missed = questions.filter(([question, ...sections]) => {
    const found = search(question).slice(0, SHOWN);
    if (found.some((section) => sections.includes(section))) return false;
    console.log(`${half}: ${question}\n  found ${found.join(" ")}\n  want  ${sections.join(" ")}`);
    return true;
  });
  return questions.length - missed.length;
}
