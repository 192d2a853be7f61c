import { existsSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/** All sample users have this password. */
export const PASSWORD = "correct horse battery";
const PASSWORD_HASH = "$2b$10$GqQVng/X4figvQP/gtbBrOrlgtnnDVj0Qcdcmj87pTjaJHupFN2hS";

const users = [
  [1, "admin@tracker.example", "Ada Admin", "ADMIN"],
  [2, "ann@tracker.example", "Ann", "MEMBER"],
  [3, "bob@tracker.example", "Bob", "MEMBER"],
  [4, "cleo@tracker.example", "Cleo", "MEMBER"],
] as const;
const PROJECTS = 30;
const TASKS_PER_PROJECT = 8;

/**
 * Creates the database that both versions use, with sample data, unless the file exists. Ann owns the projects with odd ids and
 * Bob the others. Cleo is a member of every third project.
 */
export function createDatabase(file: string): void {
  if (existsSync(file)) return;
  const database = new DatabaseSync(file);
  database.exec("pragma journal_mode = wal");
  database.exec("begin");
  database.exec(readFileSync(new URL("schema.sql", import.meta.url), "utf8"));
  const addUser = database.prepare("insert into users values (?, ?, ?, ?, ?)");
  for (const user of users) addUser.run(...user, PASSWORD_HASH);
  const addProject = database.prepare("insert into projects values (?, ?, ?, ?, ?)");
  const addMember = database.prepare("insert into members values (?, ?)");
  const addTask = database.prepare("insert into tasks values (?, ?, ?, ?, ?, ?)");
  for (let id = 1; id <= PROJECTS; id++) {
    const owner = id % 2 === 1 ? 2 : 3;
    addProject.run(id, `Project ${id}`, id % 5 === 0 ? null : `The goal of project ${id}`, owner, dayOf(id));
    for (const member of id % 3 === 0 ? [owner, 4] : [owner]) addMember.run(id, member);
    for (let n = 1; n <= TASKS_PER_PROJECT; n++) {
      const task = (id - 1) * TASKS_PER_PROJECT + n;
      addTask.run(
        task,
        id,
        `Task ${n} of project ${id}`,
        n % 4 === 0 ? "DONE" : "OPEN",
        n % 5 === 0 ? null : owner,
        dayOf(task),
      );
    }
  }
  database.exec("commit");
  database.close();
}

// Several rows share a day, so that a list needs a second column to order them.
function dayOf(id: number): string {
  return new Date(Date.UTC(2026, 0, 1 + Math.floor(id / 4))).toISOString();
}

if (import.meta.main) createDatabase(process.env["DATABASE"] ?? "tracker.db");
