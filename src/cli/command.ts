import type { Terminal } from './terminal.ts'

/** What a command was called with, beside its name. Options that it does not list are wrong usage. */
export interface Given {
  operands: string[]
  options: Partial<Record<string, string>>
}

export interface Command {
  /** Names of what must stand behind the command. */
  operands?: readonly string[]
  /** Names of its options, each with a value. */
  options?: readonly string[]
  run(terminal: Terminal, given: Given): Promise<void>
}

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Throws `UsageError` when the option was not given. */
export function required({ options }: Given, name: string): string {
  const value = options[name]
  if (value === undefined || value === '') throw new UsageError(`--${name} is missing.`)
  return value
}
