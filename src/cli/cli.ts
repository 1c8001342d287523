import { parseArgs } from 'node:util'
import { VERSION } from '../app/version.ts'
import { ConfigError } from '../config/index.ts'
import { main } from '../main.ts'
import { type Command, type Given, UsageError } from './command.ts'
import { listenCommand } from './listen.ts'
import { migrateStatusCommand, migrateUpCommand } from './migrate.ts'
import type { Terminal } from './terminal.ts'
import { triggerCommand } from './trigger.ts'

const HELP = `Posthorn ${VERSION}: mailboxes behind one REST API and signed webhooks.

Usage: posthorn <command>

Commands:
  start            run the service until SIGINT or SIGTERM
  migrate up       bring the database up to date
  migrate status   tell which migrations are applied and which are pending
  listen           pass the events of a running service on to an address of this machine, signed
    --forward URL    where to: http://localhost:3000/hook
    --type LIST      only these, such as message.*,account.connected
    --secret TEXT    sign with this (whsec_…) instead of a new one
  trigger <type>   have a running service send a test event of this type: trigger message.received

Options of listen and trigger:
  --url URL        where the service answers; default PUBLIC_URL
  --key KEY        its key; default SERVICE_API_KEY, or the one kept in DATA_DIR

Options:
  --help           this text
  --version        the version

Settings come from the environment, then service.config.json (SERVICE_CONFIG names another file), then defaults;
docs/settings.md tells all of them.

Exit codes: 0 well, 1 failed, 2 wrong usage or settings.`

const COMMANDS: Record<string, Command> = {
  start: { run: main },
  'migrate up': { run: migrateUpCommand },
  'migrate status': { run: migrateStatusCommand },
  listen: listenCommand,
  trigger: triggerCommand,
}

/** Runs one command and answers the exit code; `start` answers when the service is up, and exits by itself later. */
export async function cli(args: string[], terminal: Terminal): Promise<number> {
  try {
    const { words, options, help, version } = parsed(args)
    if (version === true) return said(terminal, VERSION)
    if (help === true || words.length === 0) return said(terminal, HELP)
    const { command, given } = found(words, options)
    await command.run(terminal, given)
    return 0
  } catch (error) {
    const isUsage = error instanceof UsageError
    const hint = isUsage ? '\nTry: posthorn --help' : ''
    terminal.error(`posthorn: ${error instanceof Error ? error.message : String(error)}${hint}`)
    return isUsage || error instanceof ConfigError ? 2 : 1
  }
}

const VALUES = ['forward', 'type', 'secret', 'url', 'key'] as const

function parsed(args: string[]) {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        ...Object.fromEntries(VALUES.map((name) => [name, { type: 'string' as const }])),
      },
    })
    const { help, version, ...options } = values
    return { words: positionals, help, version, options: options as Given['options'] }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** The longest name that the words begin with; what follows are its operands. */
function found(words: string[], options: Given['options']): { command: Command; given: Given } {
  const name = Object.keys(COMMANDS).find((known) => ` ${words.join(' ')} `.startsWith(` ${known} `)) ?? ''
  const command = COMMANDS[name]
  const operands = words.slice(name.split(' ').length)
  const wanted = command?.operands ?? []
  if (command === undefined || operands.length > wanted.length) {
    throw new UsageError(`"${words.join(' ')}" is not a command.`)
  }
  const missing = wanted[operands.length]
  if (missing !== undefined) throw new UsageError(`${name} needs ${missing}.`)
  const other = Object.keys(options).find((option) => !command.options?.includes(option))
  if (other !== undefined) throw new UsageError(`--${other} is not an option of ${name}.`)
  return { command, given: { operands, options } }
}

function said(terminal: Terminal, text: string): number {
  terminal.out(text)
  return 0
}
