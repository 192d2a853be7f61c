/** An expected failure. Its message is printed without further details. */
export class CommandFailed extends Error {
  override readonly name: string = "CommandFailed";
}

/** Arguments that do not fit together. It ends the command with the exit code 2. */
export class UsageError extends CommandFailed {
  override readonly name: string = "UsageError";
}
