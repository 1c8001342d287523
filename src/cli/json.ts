import type { Option, Terminal } from './command.ts'

/** The option of a command whose result has no schema of the API. */
export const JSON_OPTION = {
  json: { about: 'print the result as JSON' },
} satisfies Record<string, Option>

export function printJson(terminal: Terminal, value: unknown): void {
  terminal.out(JSON.stringify(value, null, 2))
}
