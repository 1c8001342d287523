import { columns, wrap } from '../platform/formats/text.ts'
import type { Command } from './command.ts'

const USUAL_WIDTH = 80
const SETTINGS =
  'Settings come from the environment, then .env, then service.config.json (SERVICE_CONFIG names another file), then defaults. See docs/settings.md.'

/** The text of `posthorn --help`. */
export function overview(version: string, commands: Readonly<Record<string, Command>>, width?: number): string {
  const rows = Object.entries(commands).map(
    ([name, { operand, summary }]) => [formatTitle(name, operand), summary] as const,
  )
  return `Posthorn ${version}: mailboxes behind one REST API and signed webhooks.

Usage: posthorn <command>

Commands:
${columns(rows, width).join('\n')}

Options:
${columns(
  [
    ['--help', 'print this text; after a command: its options and examples'],
    ['--version', 'print the version'],
  ],
  width,
).join('\n')}

${wrap(SETTINGS, width ?? USUAL_WIDTH).join('\n')}

Exit codes: 0 success, 1 failure, 2 invalid usage or settings.`
}

/** The text of `posthorn <command> --help`. */
export function commandHelp(
  name: string,
  { summary, operand, options = {}, examples }: Command,
  width?: number,
): string {
  const rows = Object.entries(options).map(([option, { value, about }]) => {
    return [value === undefined ? `--${option}` : `--${option} ${value}`, about] as const
  })
  return [
    `posthorn ${formatTitle(name, operand)}: ${summary}`,
    '',
    ...(rows.length > 0 ? ['Options:', ...columns(rows, width), ''] : []),
    'Examples:',
    ...examples.map((example) => `  ${example}`),
  ].join('\n')
}

function formatTitle(name: string, operand: string | undefined): string {
  return operand === undefined ? name : `${name} ${operand}`
}
