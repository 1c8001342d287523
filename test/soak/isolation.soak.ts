import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { percentile } from '../../bench/figures.ts'
import { databases } from '../kit/database/database.ts'
import {
  type IsolationFigures,
  type IsolationScenario,
  type RoundFigures,
  runIsolation,
} from '../scenarios/isolation.ts'
import { hasRedis, type RedisServerProcess, startRedis } from '../servers/redis.ts'

/** 1,000 events per phase to each of 50 endpoints, ten of which are unhealthy. */
const SCENARIO: IsolationScenario = {
  events: 1000,
  warmUp: 500,
  rounds: 5,
  healthy: 40,
  failing: 5,
  hanging: 4,
  resetting: 1,
  // 1,000 requests per second to the healthy endpoints, 1,250 in all.
  paceMs: 40,
}
/**
 * PostgreSQL, Redis, two instances and the receivers share the machine, and two cores sustain this pace. At a faster one
 * the figures would show the backlog rather than the isolation.
 */
const SHARED_SCENARIO: IsolationScenario = { ...SCENARIO, paceMs: 80 }
const TIMEOUT_MS = 900_000
const MEGABYTE = 1024 * 1024
/** Heap growth over the first two phases, which make 90,000 deliveries: about 0.1 kB per delivery. */
const MAX_HEAP_GROWTH = 10 * MEGABYTE
/** Resident memory, which includes garbage that V8 has not collected yet. */
const MAX_RESIDENT = 512 * MEGABYTE

const hasPostgres = inject('postgresUrl') !== undefined

describe('forty healthy webhook endpoints and ten unhealthy ones', () => {
  describe('on SQLite', () => {
    const open = databases('sqlite')
    it('delivers to healthy endpoints without added latency, and after a kill', { timeout: TIMEOUT_MS }, async () => {
      check('SQLite', SCENARIO, await runIsolation(await open.place(), SCENARIO))
    })
  })

  describe.skipIf(!hasPostgres)('on PostgreSQL', () => {
    const open = databases('postgres')
    it('delivers to healthy endpoints without added latency, and after a kill', { timeout: TIMEOUT_MS }, async () => {
      check('PostgreSQL', SHARED_SCENARIO, await runIsolation(await open.place(), SHARED_SCENARIO))
    })
  })

  describe.skipIf(!hasPostgres || !hasRedis)('on PostgreSQL and Redis, with two replicas', () => {
    const open = databases('postgres')
    let redis: RedisServerProcess
    beforeAll(async () => {
      redis = await startRedis()
    })
    afterAll(() => redis.close())
    const run = async (scenario: IsolationScenario) =>
      runIsolation({ ...(await open.place()), redisUrl: redis.url }, { ...scenario, replicas: 2 })

    it('delivers to healthy endpoints without added latency, and after a kill', { timeout: TIMEOUT_MS }, async () => {
      check('PostgreSQL, Redis, two replicas', SHARED_SCENARIO, await run(SHARED_SCENARIO))
    })

    it('delivers without added latency while Redis restarts', { timeout: TIMEOUT_MS }, async () => {
      const midway = async () => {
        await redis.stop()
        await redis.start()
      }
      check('PostgreSQL, Redis restarted, two replicas', SHARED_SCENARIO, await run({ ...SHARED_SCENARIO, midway }))
    })
  })
})

function check(title: string, { paceMs }: IsolationScenario, figures: IsolationFigures): void {
  const { healthyOnly, withUnhealthy, memory, delivered, unhealthyRequests, duplicates } = figures
  const ratio = medianP99(withUnhealthy) / medianP99(healthyOnly)
  const lines = [
    `${title}:`,
    `healthy only    ${show(healthyOnly)}`,
    `with unhealthy  ${show(withUnhealthy)}`,
    `p99             ${medianP99(healthyOnly)} → ${medianP99(withUnhealthy)} ms: ${ratio.toFixed(2)} ×`,
    ...memory.map(
      ({ heapBytes, earlyBytes, lateBytes, maxBytes }) =>
        `memory          heap ${heapBytes.map(mega).join(', ')}; resident ${mega(earlyBytes)} early, ${mega(lateBytes)} late, ${mega(maxBytes)} maximum`,
    ),
    `${delivered} deliveries to healthy endpoints, ${duplicates} duplicates; ${unhealthyRequests} requests to unhealthy endpoints`,
  ]
  console.log(lines.join('\n  '))
  expect(delivered).toBe(SCENARIO.healthy * (SCENARIO.warmUp + 3 * SCENARIO.events))
  // An overloaded machine delays all deliveries alike and hides a lack of isolation.
  expect(meanPace(healthyOnly)).toBeGreaterThan((0.9 * 1000) / paceMs)
  expect(ratio).toBeLessThanOrEqual(1.5)
  // A slower second phase would be an easier load for the healthy endpoints than the first.
  expect(meanPace(withUnhealthy)).toBeGreaterThan(0.9 * meanPace(healthyOnly))
  for (const { heapBytes, maxBytes } of memory) {
    expect((heapBytes.at(-1) ?? Number.NaN) - (heapBytes[0] ?? Number.NaN)).toBeLessThan(MAX_HEAP_GROWTH)
    expect(maxBytes).toBeLessThan(MAX_RESIDENT)
  }
}

const p99Of = ({ latenciesMs }: RoundFigures) => percentile(latenciesMs, 0.99)

/** The median over the rounds, because other work on the machine can spoil single rounds. */
const medianP99 = (rounds: readonly RoundFigures[]) => percentile(rounds.map(p99Of), 0.5)

const meanPace = (rounds: readonly RoundFigures[]) =>
  rounds.reduce((sum, { eventsPerSecond }) => sum + eventsPerSecond, 0) / rounds.length

function show(rounds: readonly RoundFigures[]): string {
  const all = rounds.flatMap(({ latenciesMs }) => latenciesMs)
  const [p50, p99, max] = [0.5, 0.99, 1].map((rank) => percentile(all, rank))
  const each = rounds.map(p99Of).join(', ')
  return `p50 ${p50} · p99 ${p99} (by round ${each}) · max ${max} ms at ${meanPace(rounds).toFixed(1)} events/s`
}

const mega = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`
