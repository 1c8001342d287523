import { doctor } from '../app/doctor.ts'
import { type Inspection, inspectProcessConfig } from '../config/index.ts'
import { type CheckResult, failed, ok, runChecks, warning } from '../operations/doctor/index.ts'
import { wrap } from '../platform/formats/text.ts'
import type { Command, CommandArguments, Terminal } from './command.ts'
import { printJson } from './json.ts'
import { printable } from './online/table.ts'

/** Checks the installation, whether or not the service runs. Fails when a check failed. */
export const doctorCommand: Command = {
  summary: 'check the installation: settings, database, Redis, providers, public URL, webhooks, clock',
  options: { json: { about: 'print {success, checks} as JSON' } },
  examples: ['posthorn doctor', 'posthorn doctor --json | jq \'.checks[] | select(.status == "failed")\''],
  run,
}

async function run(terminal: Terminal, { options }: CommandArguments): Promise<void> {
  const results = await examine(inspectProcessConfig())
  const count = (status: CheckResult['status']) => results.filter((result) => result.status === status).length
  const success = count('failed') === 0
  if (options.json !== undefined) printJson(terminal, { success, checks: results })
  else for (const line of formatResults(results, terminal.width)) terminal.out(line)
  const warnings = count('warning')
  const summary = `${count('ok')} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${count('failed')} failed, ${count('skipped')} skipped.`
  if (!success) throw new Error(summary)
  terminal.error(summary)
}

async function examine({ config, errors, warnings }: Inspection): Promise<CheckResult[]> {
  const settings = [
    ...errors.map((text) => ({
      name: 'settings',
      ...failed(text, 'Correct it. List all settings: posthorn config check --all'),
    })),
    ...warnings.map((text) => ({ name: 'settings', ...warning(text, 'See docs/settings.md.') })),
  ]
  if (config === undefined) return settings
  const { checks, close } = doctor(config)
  try {
    const results = await runChecks(checks)
    return [...(settings.length > 0 ? settings : [{ name: 'settings', ...ok('The settings are valid.') }]), ...results]
  } finally {
    await close()
  }
}

/** A check with its message, and the remedy under it, in lines that fit the terminal. */
function formatResults(results: readonly CheckResult[], width = Number.POSITIVE_INFINITY): string[] {
  const nameWidth = Math.max(...results.map(({ name }) => name.length))
  const indent = 'skipped  '.length + nameWidth + 2
  const textWidth = Math.max(MIN_TEXT, width - indent)
  return results.flatMap(({ status, name, message, remedy }) => {
    const head = `${status.padEnd('skipped'.length)}  ${name.padEnd(nameWidth)}  `
    const texts = [printable(message), ...(remedy === null ? [] : [printable(remedy)])]
    const lines = texts.flatMap((text) => wrap(text, textWidth))
    return lines.map((line, index) => (index === 0 ? head : ' '.repeat(indent)) + line)
  })
}

/** In a narrower column, words would have a line each. */
const MIN_TEXT = 30
