import { type EventRow, eventHead } from '../../../events/index.ts'

/**
 * The body of a delivery: a pure function of the two rows, so every attempt sends the same bytes. `data` is spliced in as
 * it is stored (it is JSON already, up to 256 KB), which also keeps it byte for byte.
 */
export function deliveryBody(delivery: { id: string; test: number }, event: EventRow): string {
  const head = JSON.stringify({ deliveryId: delivery.id, test: delivery.test === 1, ...eventHead(event) })
  return `${head.slice(0, -1)},"data":${event.data}}`
}
