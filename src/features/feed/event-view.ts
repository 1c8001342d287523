import { type EventRow, eventHead } from '../../events/index.ts'

/** An event as the API shows it: as webhooks say it, and where it stands in the order of all events. */
export function eventView(row: EventRow) {
  return { position: row.position ?? 0, test: row.fanOut === 0, ...eventHead(row), data: JSON.parse(row.data) }
}

/** The same as JSON on one line, without parsing the data, which may be large. */
export function eventText(row: EventRow): string {
  const head = JSON.stringify({ position: row.position, test: row.fanOut === 0, ...eventHead(row) })
  return `${head.slice(0, -1)},"data":${row.data}}`
}
