import type { Page } from '@posthorn/sdk'
import type { Terminal } from '../command.ts'
import { displayWidth, fitted } from './width.ts'

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

/**
 * The header and one line per row, at most as wide as the terminal: columns are shortened, then left out from the right. Only the
 * first column, which identifies the row, may be wider. Output that is no terminal has no width.
 */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width = Infinity): string[] {
  const cells = columns.map(({ title, value }) => [title, ...rows.map((row) => printable(value(row) ?? ''))])
  const widths = cells.map((column) => Math.max(...column.map(displayWidth)))
  const shown = new Set(columns.keys())
  const overflow = () => [...shown].reduce((sum, at) => sum + (widths[at] ?? 0) + GAP, -GAP) - width
  for (const at of shown) {
    if (columns[at]?.shrinks !== true || overflow() <= 0) continue
    const natural = widths[at] ?? 0
    widths[at] = Math.max(natural - overflow(), Math.min(MIN_WIDTH, natural))
  }
  const fromRight = [...shown].reverse()
  const isOptional = (at: number) => columns[at]?.optional === true
  for (const at of [...fromRight.filter(isOptional), ...fromRight]) {
    if (at > 0 && overflow() > 0) shown.delete(at)
  }
  return ['', ...rows].map((_, line) =>
    [...shown]
      .map((at) => fitted(cells[at]?.[line] ?? '', widths[at] ?? 0))
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

/** Prints a page of a list: its table, and on stderr how many there are and how to see more. */
export function printList<Row>(
  terminal: Terminal,
  { items, pagination }: Pick<Page<Row>, 'items' | 'pagination'>,
  columns: readonly Column<Row>[],
  { noun, command }: { noun: string; command: string },
): void {
  if (items.length > 0) for (const line of table(items, columns, terminal.width)) terminal.out(line)
  const { page, total, totalPages, hasNext, totalCapped } = pagination
  const count = `${totalCapped ? 'More than ' : ''}${total} ${total === 1 ? noun : toPlural(noun)}`
  const position = totalPages > 1 ? `, page ${page} of ${totalPages}` : ''
  terminal.error(`${count}${position}.${hasNext ? ` Next: ${command} --page ${page + 1}` : ''}`)
}

const toPlural = (noun: string) => (noun.endsWith('y') ? `${noun.slice(0, -1)}ies` : `${noun}s`)
