import type { Pagination } from '../../ui/generated/api-objects.ts'
import type { Terminal } from '../command.ts'

/** A column of a table. */
export interface Column<Row> {
  title: string
  value(row: Row): string | null
  /** May be shortened on a narrow terminal. Ids never are, so that they can be copied. */
  shrinks?: boolean
  /** Left out when shortening is not enough, the last such column first. */
  optional?: boolean
}

const GAP = 2
/** A shortened column is not narrower than this. */
const MIN_WIDTH = 12
const ELLIPSIS = '\u2026'

/** The header and one line per row, at most as wide as the terminal. Output that is no terminal has no width. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width?: number): string[] {
  const cells = columns.map(({ title, value }) => [title, ...rows.map((row) => printable(value(row) ?? ''))])
  const shown = new Set(columns.keys())
  const widths = cells.map((column) => Math.max(...column.map((cell) => cell.length)))
  const overflow = () => [...shown].reduce((sum, at) => sum + (widths[at] ?? 0) + GAP, -GAP) - (width ?? Infinity)
  for (const at of shown) {
    if (columns[at]?.shrinks !== true || overflow() <= 0) continue
    const natural = widths[at] ?? 0
    widths[at] = Math.max(natural - overflow(), Math.min(MIN_WIDTH, natural))
  }
  for (const at of [...shown].reverse()) {
    if (columns[at]?.optional === true && overflow() > 0) shown.delete(at)
  }
  return ['', ...rows].map((_, line) =>
    [...shown]
      .map((at) => shortened(cells[at]?.[line] ?? '', widths[at] ?? 0).padEnd(widths[at] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd(),
  )
}

/** `NAME  value` lines; a null is left out. */
export function details(rows: Readonly<Record<string, string | null>>): string[] {
  const shown = Object.entries(rows).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]))
  const width = Math.max(...shown.map(([name]) => name.length))
  return shown.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}`)
}

/** Texts of mail servers and webhook receivers may contain control characters, which a terminal would obey. */
export function printable(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll(/\p{Cc}/gu, '\uFFFD')
}

function shortened(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1).toWellFormed()}${ELLIPSIS}`
}

/** Prints the last line of a list: how many there are, and how to see more. */
export function printPosition(
  terminal: Terminal,
  { pagination }: { pagination: Pagination },
  noun: string,
  command: string,
): void {
  const { page, total, totalPages, hasNext, totalCapped } = pagination
  const count = `${totalCapped ? 'More than ' : ''}${total} ${total === 1 ? noun : toPlural(noun)}`
  const position = totalPages > 1 ? `, page ${page} of ${totalPages}` : ''
  terminal.error(`${count}${position}.${hasNext ? ` Next: ${command} --page ${page + 1}` : ''}`)
}

const toPlural = (noun: string) => (noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`)
