import { ConfigError, type EffectiveSetting, type Inspection, inspectProcessConfig } from '../config/index.ts'
import type { Command, CommandArguments, Terminal } from './command.ts'
import { printJson } from './json.ts'
import { type Column, table } from './online/table.ts'

/** Prints the effective settings and what is wrong with them. Opens nothing. Fails when the service would not start with them. */
export const configCheckCommand: Command = {
  summary: 'print the effective settings with their sources, and what is wrong with them',
  options: {
    all: { about: 'print the settings that have their default, too' },
    json: { about: 'print {settings, errors, warnings} as JSON' },
  },
  examples: ['posthorn config check', 'posthorn config check --all', 'posthorn config check --json | jq -r .errors[]'],
  run: check,
}

const COLUMNS: readonly Column<EffectiveSetting>[] = [
  { title: 'SETTING', value: ({ variable }) => variable },
  { title: 'SOURCE', value: ({ source }) => source },
  { title: 'VALUE', value: ({ value }) => value ?? '-', shrinks: true },
]

async function check(terminal: Terminal, { options }: CommandArguments): Promise<void> {
  const { settings, errors, warnings } = inspect()
  if (options.json !== undefined) printJson(terminal, { settings, errors, warnings })
  else {
    const shown = settings.filter(({ source }) => options.all !== undefined || source !== 'default')
    for (const line of table(shown, COLUMNS, terminal.width)) terminal.out(line)
    for (const text of errors) terminal.out(`error    ${text}`)
    for (const text of warnings) terminal.out(`warning  ${text}`)
    if (options.all === undefined) terminal.error('Other settings have their default. Print them, too: --all')
  }
  if (errors.length > 0) throw new Error(`The settings are not valid. Errors: ${errors.length}.`)
  terminal.error(
    warnings.length === 0 ? 'The settings are valid.' : `The settings are valid. Warnings: ${warnings.length}.`,
  )
}

function inspect(): Pick<Inspection, 'settings' | 'errors' | 'warnings'> {
  try {
    return inspectProcessConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return { settings: [], errors: [...error.errors], warnings: [] }
  }
}
