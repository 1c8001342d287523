import { expect, it } from 'vitest'
import { experienceWith } from '../../../test/kit/booking/experience.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import type { Db } from '../../platform/db/index.ts'
import type { Experience } from '../experiences/experience.ts'
import { lockHosts, takeSlot } from './actions/blocking.ts'

const HOSTS = ['acc_a', 'acc_b', 'acc_c', 'acc_d', 'acc_e']
const MINUTE_MS = 60_000
const NOW_MS = Date.parse('2026-11-20T08:00:00Z')
const FIRST_MS = Date.parse('2026-11-23T08:00:00Z')

function roundRobin(weights = {}): Experience {
  return experienceWith({ assignment: 'round_robin', weights }, { timezone: 'UTC', hosts: HOSTS })
}

/** The host that gets the slot with this number; each is after the one before. */
function openBooker(db: Db, experience: Experience, candidates = HOSTS) {
  return (number: number, options: { expiresAt?: number; preferred?: string[] } = {}) => {
    const { expiresAt = null, preferred = [] } = options
    const start = FIRST_MS + number * 60 * MINUTE_MS
    const slot = { start, end: start + 30 * MINUTE_MS, timezone: 'UTC', participants: [], metadata: {} }
    const ownerId = `${expiresAt === null ? 'bkg' : 'hld'}_${String(number).padStart(3, '0')}`
    return db.transaction(async (tx) => {
      await lockHosts(tx, db.dialect, candidates, NOW_MS)
      const checked = { slot, take: 'one' as const, candidates: [...candidates] }
      const taken = await takeSlot(tx, { experience, checked, ownerId, expiresAt, preferred, nowMs: NOW_MS })
      return taken.hosts[0]
    })
  }
}

function countByHost(hosts: readonly (string | undefined)[]): number[] {
  return HOSTS.map((host) => hosts.filter((each) => each === host).length)
}

describeEachDatabase('a round robin', (open) => {
  it('gives each host as many of sixty bookings that are made at once', async () => {
    const book = openBooker(await open(), roundRobin())
    const hosts = await Promise.all(Array.from({ length: 60 }, (_, number) => book(number)))
    expect(countByHost(hosts)).toEqual([12, 12, 12, 12, 12])
  })

  it('counts the holds of others, too', async () => {
    const book = openBooker(await open(), roundRobin())
    const expiresAt = NOW_MS + 5 * MINUTE_MS
    const hosts = await Promise.all(Array.from({ length: 20 }, (_, number) => book(number, { expiresAt })))
    expect(countByHost(hosts)).toEqual([4, 4, 4, 4, 4])
  })

  it('follows the weights, and then asks who waited longest', async () => {
    const book = openBooker(await open(), roundRobin({ acc_b: 3 }), ['acc_c', 'acc_b', 'acc_a'])
    const hosts: (string | undefined)[] = []
    for (let number = 0; number < 6; number += 1) hosts.push(await book(number))
    expect(hosts).toEqual(['acc_a', 'acc_b', 'acc_c', 'acc_b', 'acc_b', 'acc_a'])
  })

  it('keeps the host of a booking that is moved', async () => {
    const book = openBooker(await open(), roundRobin())
    expect(await book(0, { preferred: ['acc_d'] })).toBe('acc_d')
    expect(await book(1, { preferred: ['acc_d'] })).toBe('acc_d')
    expect(await book(2)).toBe('acc_a')
  })
})
