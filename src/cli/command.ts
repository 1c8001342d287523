import { ConfigError } from '../config/index.ts'

/** The output of a command. Each call writes one line. */
export interface Terminal {
  out(text: string): void
  error(text: string): void
  /** The width of lines that `out` prints; undefined when it is no terminal. */
  width?: number | undefined
  /** Shows the state of a long command in place of the one before; an empty text removes it. Undefined where stderr is not a terminal. */
  status?: ((text: string) => void) | undefined
  /** Opens the URL in the person's browser. Returns false where none can open; undefined where no person watches. */
  openBrowser?: ((url: string) => boolean) | undefined
}

/** The operands and options given to a command. A flag has the value "true". */
export interface CommandArguments {
  operands: string[]
  options: Partial<Record<string, string>>
}

export interface Option {
  /** Placeholder of the value in the help, such as URL. Without it the option is a flag. */
  value?: string
  about: string
}

export interface Command {
  /** One line for the list of commands. */
  summary: string
  /** Placeholder of the only operand, such as <type>. The command itself checks that it was given. */
  operand?: string
  options?: Readonly<Record<string, Option>>
  /** Complete command lines. */
  examples: readonly string[]
  run(terminal: Terminal, args: CommandArguments): Promise<void>
}

/** Invalid usage: exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** Runs a command, prints why it failed, and returns the exit code of the process. */
export async function exitCodeOf(run: () => Promise<void>, terminal: Terminal): Promise<number> {
  try {
    await run()
    return 0
  } catch (error) {
    terminal.error(`posthorn: ${error instanceof Error ? error.message : String(error)}`)
    return error instanceof UsageError || error instanceof ConfigError ? 2 : 1
  }
}
