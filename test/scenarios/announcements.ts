import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import type { Application, ReceivedEvent } from './application.ts'

/** Counts of the events and requests that the application received. */
export interface AnnouncementCounts {
  events: number
  requests: number
  /** Requests that repeated an event under the same ids. */
  duplicates: number
}

/**
 * Waits until the application received an event for every subject. Then requires exactly one event per message, valid
 * signatures, and the same delivery id for every duplicate.
 */
export async function expectEachAnnouncedOnce(
  application: Pick<Application, 'received' | 'badSignatures'>,
  subjects: readonly string[],
  timeoutMs: number,
): Promise<AnnouncementCounts> {
  await eventually(
    () => {
      const announced = new Set([...application.received.values()].map((event) => event.subject))
      const missing = subjects.filter((subject) => !announced.has(subject))
      if (missing.length > 0)
        throw new Error(`${missing.length} of ${subjects.length} are missing: ${missing.slice(0, 5).join(', ')}`)
    },
    timeoutMs,
    100,
  )
  const received = [...application.received.values()]
  const bySubject = new Map<string, ReceivedEvent[]>()
  for (const event of received) bySubject.set(event.subject, [...(bySubject.get(event.subject) ?? []), event])
  const announcedTwice = [...bySubject].filter(([, events]) => events.length > 1).map(([subject]) => subject)
  expect(announcedTwice).toEqual([])
  expect([...bySubject.keys()].sort()).toEqual([...subjects].sort())
  expect(application.badSignatures).toBe(0)
  const withSeveralDeliveryIds = received.filter((event) => event.deliveryIds.size !== 1)
  expect(withSeveralDeliveryIds.map((event) => event.subject)).toEqual([])
  const requests = received.reduce((sum, event) => sum + event.times, 0)
  return { events: received.length, requests, duplicates: requests - received.length }
}
