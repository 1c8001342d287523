/** The output of a command. Each call writes one line. */
export interface Terminal {
  out(text: string): void
  error(text: string): void
}

/** The operands and options given to a command. */
export interface Given {
  operands: string[]
  options: Partial<Record<string, string>>
}

export interface Command {
  /** Descriptions of the required operands. */
  operands?: readonly string[]
  /** Names of the allowed options; each takes a value. */
  options?: readonly string[]
  run(terminal: Terminal, given: Given): Promise<void>
}

/** Invalid usage: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Returns the option, or throws `UsageError` when it is missing. */
export function required({ options }: Given, name: string): string {
  const value = options[name]
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing.`)
  return value
}
