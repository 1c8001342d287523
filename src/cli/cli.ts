import { parseArgs } from 'node:util'
import { catalogue } from '../app/feature-list.ts'
import { VERSION } from '../app/version.ts'
import { main } from '../main.ts'
import { didYouMean } from '../platform/errors/did-you-mean.ts'
import { backupCommand } from './backup.ts'
import { type Command, type CommandArguments, exitCodeOf, type Terminal, UsageError } from './command.ts'
import { configCheckCommand } from './config-check.ts'
import { demoCommand } from './demo.ts'
import { doctorCommand } from './doctor.ts'
import { commandHelp, overview } from './help.ts'
import { JSON_OPTION } from './json.ts'
import { licenceKeypairCommand, licenceSignCommand } from './licence.ts'
import { migrateStatusCommand, migrateUpCommand } from './migrate.ts'
import { accountCommands } from './online/accounts.ts'
import { backfillCommands } from './online/backfill.ts'
import { connectCommand } from './online/connect.ts'
import { deliveryCommands } from './online/deliveries.ts'
import { endpointCommands } from './online/endpoints.ts'
import { eventCommands } from './online/events.ts'
import { experienceCommands } from './online/experiences.ts'
import { importCommands } from './online/import/import.ts'
import { keyCommands } from './online/keys.ts'
import { listenCommand } from './online/listen.ts'
import { mcpCommand } from './online/mcp.ts'
import { outboxCommands } from './online/outbox.ts'
import { rotateEncryptionCommand } from './online/rotate-encryption.ts'
import { sessionCommands } from './online/sessions.ts'
import { triggerCommand } from './online/trigger.ts'
import { restoreCommand } from './restore.ts'

export const COMMANDS: Readonly<Record<string, Command>> = {
  start: {
    summary: 'run the service until SIGINT or SIGTERM',
    examples: ['posthorn start', 'PORT=9000 DATA_DIR=/var/lib/posthorn posthorn start'],
    run: main,
  },
  demo: demoCommand,
  'migrate up': {
    summary: 'apply pending database migrations',
    options: JSON_OPTION,
    examples: ['posthorn migrate up'],
    run: migrateUpCommand,
  },
  'migrate status': {
    summary: 'list applied and pending migrations',
    options: JSON_OPTION,
    examples: ['posthorn migrate status'],
    run: migrateStatusCommand,
  },
  'config check': configCheckCommand,
  doctor: doctorCommand,
  connect: connectCommand,
  ...sessionCommands,
  ...importCommands,
  ...accountCommands,
  ...endpointCommands,
  ...deliveryCommands,
  ...eventCommands,
  ...outboxCommands,
  ...experienceCommands,
  ...backfillCommands,
  ...keyCommands,
  'licence keypair': licenceKeypairCommand,
  'licence sign': licenceSignCommand,
  backup: backupCommand,
  restore: restoreCommand,
  'rotate-encryption': rotateEncryptionCommand,
  mcp: mcpCommand,
  listen: listenCommand,
  trigger: triggerCommand(catalogue.types),
}

/** Runs the command of a line and returns the exit code. `start` returns when the service is up; the process exits later. */
export function cli(args: string[], terminal: Terminal): Promise<number> {
  return exitCodeOf(async () => {
    try {
      const found = commandIn(args, terminal.width)
      if (typeof found === 'string') terminal.out(found)
      else await found.command.run(terminal, found.args)
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      const name = nameIn(args.filter((arg) => !arg.startsWith('-')))
      throw new UsageError(`${error.message}\nTry: posthorn ${name === undefined ? '' : `${name} `}--help`)
    }
  }, terminal)
}

/** The command that a line names, and what it is given; a text of this width to print for help and version. Throws `UsageError`. */
export function commandIn(args: string[], width?: number): { command: Command; args: CommandArguments } | string {
  const { words, options, help, version } = parse(args)
  if (version) return VERSION
  const named = words[0] === 'help' ? words.slice(1) : words
  if (named.length === 0) return overview(VERSION, COMMANDS, width)
  return help || words[0] === 'help' ? formatHelp(named, width) : findCommand(words, options)
}

const OPTIONS = Object.assign({}, ...Object.values(COMMANDS).map(({ options }) => options)) as NonNullable<
  Command['options']
>

function parse(args: string[]) {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: {
        ...Object.fromEntries(
          Object.entries(OPTIONS).map(([name, { value }]) => [
            name,
            { type: value === undefined ? ('boolean' as const) : ('string' as const) },
          ]),
        ),
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
      },
    })
    const { help, version, ...others } = values
    const options = Object.fromEntries(Object.entries(others).map(([name, value]) => [name, String(value)]))
    return { words: positionals, help: help === true, version: version === true, options }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const unknown = /^Unknown option '--([^']+)'/.exec(message)?.[1]
    if (unknown === undefined) throw new UsageError(message)
    const close = didYouMean(unknown, [...Object.keys(OPTIONS), 'help', 'version']).replace('"', '"--')
    throw new UsageError(`Unknown option '--${unknown}'.${close}`)
  }
}

/** The help of one command, or of all commands that begin with the word, such as "migrate". */
function formatHelp(words: string[], width?: number): string {
  const name = nameIn(words)
  const names =
    name === undefined ? Object.keys(COMMANDS).filter((command) => command.startsWith(`${words[0]} `)) : [name]
  const texts = names.flatMap((command) => (COMMANDS[command] ? [commandHelp(command, COMMANDS[command], width)] : []))
  if (texts.length === 0) throw unknownCommand(words)
  return texts.join('\n\n')
}

/** Finds the command whose name the words begin with; the other words are its operands. */
function findCommand(
  words: string[],
  options: CommandArguments['options'],
): { command: Command; args: CommandArguments } {
  const name = nameIn(words) ?? ''
  const command = COMMANDS[name]
  const operands = words.slice(name.split(' ').length)
  if (command === undefined || operands.length > (command.operand === undefined ? 0 : 1)) throw unknownCommand(words)
  const other = Object.keys(options).find((option) => command.options?.[option] === undefined)
  if (other !== undefined) throw new UsageError(`--${other} is not an option of ${name}.`)
  return { command, args: { operands, options } }
}

function nameIn(words: string[]): string | undefined {
  return Object.keys(COMMANDS).find((command) => ` ${words.join(' ')} `.startsWith(` ${command} `))
}

function unknownCommand(words: string[]): UsageError {
  const text = words.join(' ')
  const commands = Object.keys(COMMANDS)
  const subcommands = commands.filter((name) => name.startsWith(`${text} `)).map((name) => `"${name}"`)
  const close = subcommands.length > 0 ? ` Did you mean ${subcommands.join(' or ')}?` : didYouMean(text, commands)
  return new UsageError(`"${text}" is not a command.${close}`)
}
