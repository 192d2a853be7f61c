import { expect, it, onTestFinished, vi } from "vitest";
import type { CommandContext } from "../../src/cli/process/command-context.ts";
import { showProgress } from "../../src/cli/process/show-progress.ts";

function contextOf(shown: string[], hasTerminal: boolean): CommandContext {
  return {
    env: {},
    cwd: "",
    print: (line) => void shown.push(`printed ${line}`),
    printError: () => {},
    askPassword: async () => "",
    confirm: null,
    width: 80,
    showStatus: hasTerminal ? (text) => void shown.push(text) : null,
  };
}

it("shows progress from one second on, until the command prints, and none in a pipe", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const shown: string[] = [];
  const { context } = showProgress(contextOf(shown, true), "audit");
  vi.advanceTimersByTime(900);
  expect(shown).toEqual([]);
  vi.advanceTimersByTime(1_200);
  context.print("a line");
  vi.advanceTimersByTime(5_000);
  expect(shown).toEqual(["portico audit: 1 s", "portico audit: 2 s", "", "printed a line"]);

  const piped: string[] = [];
  showProgress(contextOf(piped, false), "audit");
  vi.advanceTimersByTime(5_000);
  expect(piped).toEqual([]);
});
