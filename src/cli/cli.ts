import { parseArgs } from 'node:util'
import { VERSION } from '../app/version.ts'
import { ConfigError } from '../config/index.ts'
import { main } from '../main.ts'
import { type Command, type Given, type Terminal, UsageError } from './command.ts'
import { listenCommand } from './listen.ts'
import { migrateStatusCommand, migrateUpCommand } from './migrate.ts'
import { triggerCommand } from './trigger.ts'

const HELP = `Posthorn ${VERSION}: mailboxes behind one REST API and signed webhooks.

Usage: posthorn <command>

Commands:
  start            run the service until SIGINT or SIGTERM
  migrate up       apply pending database migrations
  migrate status   list applied and pending migrations
  listen           forward the events of a running service to a local address as signed webhooks
    --forward URL    the address, such as http://localhost:3000/hook
    --type LIST      only these types, such as message.*,account.connected
    --secret TEXT    the signing secret (whsec_…); default: a new one
  trigger <type>   make a running service send a test event, such as message.received

Options for listen and trigger:
  --url URL        the address of the service; default PUBLIC_URL
  --key KEY        its API key; default SERVICE_API_KEY, else the generated key in DATA_DIR

Options:
  --help           print this text
  --version        print the version

Settings come from the environment, then service.config.json (SERVICE_CONFIG names another file), then defaults.
See docs/settings.md.

Exit codes: 0 success, 1 failure, 2 invalid usage or settings.`

const COMMANDS: Record<string, Command> = {
  start: { run: main },
  'migrate up': { run: migrateUpCommand },
  'migrate status': { run: migrateStatusCommand },
  listen: listenCommand,
  trigger: triggerCommand,
}

/** Runs a command and returns the exit code. `start` returns when the service is up; the process exits later. */
export async function cli(args: string[], terminal: Terminal): Promise<number> {
  try {
    const { words, options, help, version } = parse(args)
    if (version === true) return print(terminal, VERSION)
    if (help === true || words.length === 0) return print(terminal, HELP)
    const { command, given } = findCommand(words, options)
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

function parse(args: string[]) {
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

/** Finds the command whose name the words begin with; the other words are its operands. */
function findCommand(words: string[], options: Given['options']): { command: Command; given: Given } {
  const name = Object.keys(COMMANDS).find((known) => ` ${words.join(' ')} `.startsWith(` ${known} `)) ?? ''
  const command = COMMANDS[name]
  const operands = words.slice(name.split(' ').length)
  const expected = command?.operands ?? []
  if (command === undefined || operands.length > expected.length) {
    throw new UsageError(`"${words.join(' ')}" is not a command.`)
  }
  const missing = expected[operands.length]
  if (missing !== undefined) throw new UsageError(`${name} needs ${missing}.`)
  const other = Object.keys(options).find((option) => !command.options?.includes(option))
  if (other !== undefined) throw new UsageError(`--${other} is not an option of ${name}.`)
  return { command, given: { operands, options } }
}

function print(terminal: Terminal, text: string): number {
  terminal.out(text)
  return 0
}
