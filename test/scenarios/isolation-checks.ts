import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import type { Client } from './client.ts'
import type { Behaviour, ManyEndpoints } from './many-endpoints.ts'

interface DeliveryPage {
  deliveries: { id: string; eventId: string; status: string }[]
  pagination: { total: number; nextCursor?: string }
}

/**
 * Requires that the deliveries of each healthy endpoint match what it received: same ids, status `success`. Returns their
 * number.
 */
export async function expectEachDelivered(
  api: Client,
  behaviours: readonly Behaviour[],
  endpoints: ManyEndpoints,
): Promise<number> {
  expect(endpoints.mismatches).toEqual([])
  const eventsByMarker = new Map<string, string>()
  const arrivals = endpoints.arrivals()
  const healthy = [...behaviours.entries()].filter(([, behaviour]) => behaviour === 'healthy')
  let count = 0
  for (const [position, [index]] of healthy.entries()) {
    const arrived = [...(arrivals[position] ?? [])]
    for (const [marker, { eventId }] of arrived) {
      // Every endpoint receives the same event for a marker.
      expect(eventId).toBe(eventsByMarker.get(marker) ?? eventId)
      eventsByMarker.set(marker, eventId)
    }
    const expected = arrived.map(([, { eventId, deliveryId }]) => `${deliveryId} ${eventId} success`).sort()
    // The service records a result after the endpoint responded.
    await eventually(async () => expect((await listDeliveries(api, index)).sort()).toEqual(expected), undefined, 500)
    count += expected.length
  }
  return count
}

async function listDeliveries(api: Client, index: number): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const path: string = `/webhooks/deliveries?endpointId=hook-${index}&limit=200&cursor=${encodeURIComponent(cursor)}`
    const { deliveries, pagination } = await api.call<DeliveryPage>('GET', path)
    found.push(...deliveries.map(({ id, eventId, status }) => `${id} ${eventId} ${status}`))
    cursor = pagination.nextCursor
  }
  return found
}

/**
 * Requires that each unhealthy endpoint keeps a pending delivery for every event since it became active, and that its
 * circuit is not closed.
 */
export async function expectBacklog(api: Client, behaviours: readonly Behaviour[], events: number): Promise<void> {
  for (const [index, behaviour] of behaviours.entries()) {
    if (behaviour === 'healthy') continue
    const count = async (filter: string) => {
      const path = `/webhooks/deliveries?endpointId=hook-${index}&limit=1${filter}`
      return (await api.call<DeliveryPage>('GET', path)).pagination.total
    }
    expect([behaviour, await count('')]).toEqual([behaviour, events])
    // The two counts are separate requests, so a delivery whose status changes in between is counted twice or not at all.
    await eventually(async () => {
      const waiting = (await count('&status=pending')) + (await count('&status=retrying'))
      expect([behaviour, waiting]).toEqual([behaviour, events])
    })
    // A circuit opens after several failures in a row. For an endpoint that hangs, each failure takes a whole timeout.
    await eventually(async () => {
      const { circuit } = await api.call<{ circuit: { state: string } }>('GET', `/webhooks/endpoints/hook-${index}`)
      expect([behaviour, circuit.state]).not.toEqual([behaviour, 'closed'])
    })
  }
}
