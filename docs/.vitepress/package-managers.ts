import type { MarkdownRenderer } from "vitepress";

const BLOCK = /^```sh\n((?:(?:npm (?:install|create|run) |cd )[^\n]*\n)+)```$/gm;

/** Shows a block of commands that differ between npm, pnpm and Yarn with a tab for each. GitHub shows those for npm. */
export function packageManagers(renderer: MarkdownRenderer): void {
  renderer.core.ruler.before("normalize", "package-managers", (state) => {
    state.src = state.src.replaceAll(BLOCK, (block, commands: string) => {
      if (!/^npm (?:install|create) /m.test(commands)) return block;
      const tabs = Object.entries(MANAGERS).map(
        ([name, translated]) => `\`\`\`sh [${name}]\n${translated(commands)}\`\`\``,
      );
      return `::: code-group\n\n${tabs.join("\n\n")}\n\n:::`;
    });
  });
}

const MANAGERS: Readonly<Record<string, (commands: string) => string>> = {
  npm: (commands) => commands,
  pnpm: (commands) => commands.replaceAll(/^npm install/gm, "pnpm add").replaceAll(/^npm /gm, "pnpm "),
  yarn: (commands) =>
    commands
      .replaceAll(/^npm install/gm, "yarn add")
      .replaceAll("--save-dev", "--dev")
      .replaceAll(/^npm create (\S+)@latest/gm, "yarn create $1")
      .replaceAll(/^npm /gm, "yarn "),
};
