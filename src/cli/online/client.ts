import type { Posthorn } from '@posthorn/sdk'
import { type Command, type CommandArguments, type Option, type Terminal, UsageError } from '../command.ts'
import { explainFailure } from './failures.ts'
import { openClient, runningService, SERVICE_OPTIONS } from './running-service.ts'

/** Options of every command that calls a running service. */
export const ONLINE_OPTIONS = {
  json: { about: 'print the response of the API as JSON' },
  ...SERVICE_OPTIONS,
} satisfies Record<string, Option>

/** Options of commands that list. */
export const LIST_OPTIONS = {
  page: { value: 'NUMBER', about: 'the page to show, from 1' },
  limit: { value: 'NUMBER', about: 'items per page, at most 200; default 50' },
} satisfies Record<string, Option>

/** Opens the client of the service that the options name. Throws `UsageError` or `ConfigError`. */
export type Open = () => Promise<Posthorn>

/** A command that calls a running service. An error of the SDK becomes one that says what to do. */
export function online(run: (terminal: Terminal, args: CommandArguments, open: Open) => Promise<void>): Command['run'] {
  return async (terminal, args) => {
    let url: string | undefined
    const open = () => {
      const service = runningService(args)
      url = service.url
      return openClient(service)
    }
    try {
      await run(terminal, args, open)
    } catch (error) {
      throw url === undefined ? error : await explainFailure(error, url)
    }
  }
}

/** The only operand of a command. Throws `UsageError` without it. */
export function requireOperand({ operands }: CommandArguments, command: string, what: string, find: string): string {
  const [operand] = operands
  if (operand === undefined) throw new UsageError(`${command} needs ${what}. List them: ${find}`)
  return operand
}

/** The page and limit of a list, as the query of the API. */
export function parsePage({ options }: CommandArguments): { page: number | undefined; limit: number | undefined } {
  return { page: parseCount('page', options.page), limit: parseCount('limit', options.limit) }
}

function parseCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`--${name} must be a whole number from 1.`)
  return Number(text)
}
