import { describe, expect, it } from 'vitest'
import { percentile } from '../../bench/figures.ts'
import { databases } from '../kit/database/database.ts'
import { runHostile } from '../scenarios/hostile.ts'

const MINUTE = 60_000
/** How long the attacks last; shorter while a fault is sought. */
const ATTACK_MS = Number(process.env.HOSTILE_MINUTES ?? 10) * MINUTE
const MEGABYTE = 1024 * 1024

describe('a service under attack', () => {
  const open = databases('sqlite')
  it('stays responsive and announces every healthy message once for ten minutes', {
    timeout: 20 * MINUTE,
  }, async () => {
    const { announced, samples, memory, calls, accounts } = await runHostile(await open.place(), {
      warmUpMs: MINUTE,
      forMs: ATTACK_MS,
      restMs: MINUTE,
      mailboxes: 50,
      paceMs: 500,
    })
    const [p50, p99, worst] = [0.5, 0.99, 1].map((rank) => percentile(samples.live, rank)) as [number, number, number]
    const lines = [
      `/health/live    p50 ${p50.toFixed(1)} · p99 ${p99.toFixed(1)} · worst ${worst.toFixed(1)} ms (n = ${samples.live.length})`,
      `accounts list   p99 ${percentile(samples.list, 0.99).toFixed(1)} ms`,
      `resident memory ${mega(memory.before)} before, ${mega(memory.most)} at most, ${mega(memory.after)} after`,
      `${announced.events} healthy messages announced, ${announced.duplicates} duplicates under the same ids`,
      `attacks         ${list(calls)}`,
      `hostile accounts ${list(accounts)}`,
    ]
    console.log(lines.join('\n  '))
    expect(p99).toBeLessThan(50)
    expect(worst).toBeLessThan(500)
    expect(memory.after).toBeLessThan(1.2 * memory.before)
  })
})

const mega = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`

const list = (counts: Record<string, number>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ')
