import { expect } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import type { Application, Sighting } from './application.ts'

/**
 * The promise in one place: every mail announced by exactly one event, none missing, every signature good, and what came
 * twice came under the same ids.
 */
export async function expectEachAnnouncedOnce(
  application: Application,
  subjects: readonly string[],
  timeoutMs: number,
): Promise<Books> {
  await eventually(
    () => {
      const announced = new Set([...application.seen.values()].map((sighting) => sighting.subject))
      const missing = subjects.filter((subject) => !announced.has(subject))
      if (missing.length > 0)
        throw new Error(`${missing.length} of ${subjects.length} are missing: ${missing.slice(0, 5).join(', ')}`)
    },
    timeoutMs,
    100,
  )
  const bySubject = new Map<string, Sighting[]>()
  for (const sighting of application.seen.values()) {
    bySubject.set(sighting.subject, [...(bySubject.get(sighting.subject) ?? []), sighting])
  }
  const announcedTwice = [...bySubject].filter(([, sightings]) => sightings.length > 1).map(([subject]) => subject)
  expect(announcedTwice).toEqual([])
  expect([...bySubject.keys()].sort()).toEqual([...subjects].sort())
  expect(application.badSignatures).toBe(0)
  const otherIds = [...application.seen.values()].filter((sighting) => sighting.deliveryIds.size !== 1)
  expect(otherIds.map((sighting) => sighting.subject)).toEqual([])
  const requests = [...application.seen.values()].reduce((sum, sighting) => sum + sighting.times, 0)
  return { events: application.seen.size, requests, repeats: requests - application.seen.size }
}

export interface Books {
  events: number
  requests: number
  repeats: number
}
