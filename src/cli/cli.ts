import { parseArgs } from 'node:util'
import { ConfigError } from '../config.ts'
import { main } from '../main.ts'
import { VERSION } from '../version.ts'
import { migrateStatusCommand, migrateUpCommand } from './migrate.ts'
import type { Terminal } from './terminal.ts'

const HELP = `Posthorn ${VERSION}: mailboxes behind one REST API and signed webhooks.

Usage: posthorn <command>

Commands:
  start            run the service until SIGINT or SIGTERM
  migrate up       bring the database up to date
  migrate status   tell which migrations are applied and which are pending

Options:
  --help           this text
  --version        the version

Settings come from the environment, then service.config.json (SERVICE_CONFIG names another file), then defaults;
docs/settings.md tells all of them.

Exit codes: 0 well, 1 failed, 2 wrong usage or settings.`

const COMMANDS: Record<string, (terminal: Terminal) => Promise<void>> = {
  start: main,
  'migrate up': migrateUpCommand,
  'migrate status': migrateStatusCommand,
}

/** Runs one command and answers the exit code; `start` answers when the service is up, and exits by itself later. */
export async function cli(args: string[], terminal: Terminal): Promise<number> {
  const asked = parsed(args)
  if ('fault' in asked) return wrongUsage(terminal, asked.fault)
  if (asked.version) return said(terminal, VERSION)
  if (asked.help || asked.words.length === 0) return said(terminal, HELP)
  const name = asked.words.join(' ')
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) return wrongUsage(terminal, `"${name}" is not a command.`)
  try {
    await command(terminal)
    return 0
  } catch (error) {
    terminal.error(`posthorn: ${error instanceof Error ? error.message : String(error)}`)
    return error instanceof ConfigError ? 2 : 1
  }
}

type Asked = { words: string[]; help: boolean; version: boolean } | { fault: string }

function parsed(args: string[]): Asked {
  try {
    const { positionals, values } = parseArgs({
      args,
      allowPositionals: true,
      options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
    })
    return { words: positionals, help: values.help === true, version: values.version === true }
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) }
  }
}

function said(terminal: Terminal, text: string): number {
  terminal.out(text)
  return 0
}

function wrongUsage(terminal: Terminal, fault: string): number {
  terminal.error(`posthorn: ${fault}\nTry: posthorn --help`)
  return 2
}
