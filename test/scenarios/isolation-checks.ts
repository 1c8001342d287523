import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import type { Client } from './client.ts'
import type { Manner, ManyHooks } from './many-endpoints.ts'

interface DeliveryPage {
  deliveries: { id: string; eventId: string; status: string }[]
  pagination: { total: number; nextCursor?: string }
}

const WAIT_MS = 60_000

/** Each delivery to a healthy endpoint is a success and arrived, under its own ids and no others. Answers how many. */
export async function expectEachDelivered(api: Client, manners: readonly Manner[], hooks: ManyHooks): Promise<number> {
  expect(hooks.strays).toEqual([])
  const eventsByMarker = new Map<string, string>()
  const books = hooks.arrivals()
  const well = [...manners.entries()].filter(([, manner]) => manner === 'well')
  let count = 0
  for (const [place, [index]] of well.entries()) {
    const arrived = [...(books[place] ?? [])]
    for (const [marker, { eventId }] of arrived) {
      // One marker is one event, whichever endpoint hears of it.
      expect(eventId).toBe(eventsByMarker.get(marker) ?? eventId)
      eventsByMarker.set(marker, eventId)
    }
    const expected = arrived.map(([, { eventId, deliveryId }]) => `${deliveryId} ${eventId} success`).sort()
    // What arrived last may not be written yet.
    await eventually(async () => expect((await deliveriesOf(api, index)).sort()).toEqual(expected), WAIT_MS, 500)
    count += expected.length
  }
  return count
}

async function deliveriesOf(api: Client, index: number): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const path: string = `/webhooks/deliveries?endpointId=hook-${index}&limit=200&cursor=${encodeURIComponent(cursor)}`
    const { deliveries, pagination } = await api.call<DeliveryPage>('GET', path)
    found.push(...deliveries.map(({ id, eventId, status }) => `${id} ${eventId} ${status}`))
    cursor = pagination.nextCursor
  }
  return found
}

/** Each bad endpoint has a delivery for every event since it became active; none was given up, and its circuit is not closed. */
export async function expectBacklog(api: Client, manners: readonly Manner[], events: number): Promise<void> {
  for (const [index, manner] of manners.entries()) {
    if (manner === 'well') continue
    const count = async (filter: string) => {
      const path = `/webhooks/deliveries?endpointId=hook-${index}&limit=1${filter}`
      return (await api.call<DeliveryPage>('GET', path)).pagination.total
    }
    expect([manner, await count('')]).toEqual([manner, events])
    // A probe that is under way right now still counts as what it was before.
    await eventually(async () => {
      // One that goes from the one state to the other between two questions is counted twice or not at all.
      expect([manner, (await count('&status=pending')) + (await count('&status=retrying'))]).toEqual([manner, events])
    })
    // It opens after a number of failures in a row, which a hanging endpoint reaches only timeout by timeout.
    await eventually(async () => {
      const { circuit } = await api.call<{ circuit: { state: string } }>('GET', `/webhooks/endpoints/hook-${index}`)
      expect([manner, circuit.state]).not.toEqual([manner, 'closed'])
    }, WAIT_MS)
  }
}
