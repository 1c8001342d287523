import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { percentile } from '../../bench/figures.ts'
import { databases } from '../kit/database.ts'
import { type IsolationFigures, type IsolationStory, playIsolation, type RoundFigures } from '../scenarios/isolation.ts'
import { hasRedis, type RedisServerProcess, startRedis } from '../servers/redis.ts'

/** 1,000 events to each of 50 endpoints, ten of which are bad, in each act. */
const STORY: IsolationStory = {
  events: 1000,
  warmUp: 500,
  rounds: 5,
  healthy: 40,
  failing: 5,
  hanging: 4,
  resetting: 1,
  // 1,000 requests to the healthy per second, 1,250 in all.
  paceMs: 40,
}
/**
 * PostgreSQL, Redis, two instances and the receivers share the machine: at this pace two cores keep up. Where they do not,
 * the figures would tell of the queue in front of them, and nothing of who stands in whose way.
 */
const SHARED_STORY: IsolationStory = { ...STORY, paceMs: 80 }
const EACH_MS = 900_000
const MEGABYTE = 1024 * 1024
/** Of what is in use, over both acts, in which 90,000 deliveries are made: a tenth of a kilobyte each, where one takes two and more. */
const MOST_GROWTH = 10 * MEGABYTE
/** Resident, whatever V8 has not collected yet. */
const MOST_MEMORY = 512 * MEGABYTE

const hasPostgres = inject('postgresUrl') !== undefined

describe('forty webhook endpoints beside ten bad ones', () => {
  describe('on SQLite', () => {
    const open = databases('sqlite')
    it('get all their events in their usual time, over a kill', { timeout: EACH_MS }, async () => {
      judge('SQLite', STORY, await playIsolation(await open.place(), STORY))
    })
  })

  describe.skipIf(!hasPostgres)('on PostgreSQL', () => {
    const open = databases('postgres')
    it('get all their events in their usual time, over a kill', { timeout: EACH_MS }, async () => {
      judge('PostgreSQL', SHARED_STORY, await playIsolation(await open.place(), SHARED_STORY))
    })
  })

  describe.skipIf(!hasPostgres || !hasRedis)('on PostgreSQL and Redis, with two replicas', () => {
    const open = databases('postgres')
    let redis: RedisServerProcess
    beforeAll(async () => {
      redis = await startRedis()
    })
    afterAll(() => redis.close())
    const play = async (story: IsolationStory) =>
      playIsolation({ ...(await open.place()), redisUrl: redis.url }, { ...story, replicas: 2 })

    it('get all their events in their usual time, over a kill', { timeout: EACH_MS }, async () => {
      judge('PostgreSQL, Redis, two replicas', SHARED_STORY, await play(SHARED_STORY))
    })

    it('get them also when Redis is restarted in the middle', { timeout: EACH_MS }, async () => {
      const midway = async () => {
        await redis.stop()
        await redis.start()
      }
      judge('PostgreSQL, Redis restarted, two replicas', SHARED_STORY, await play({ ...SHARED_STORY, midway }))
    })
  })
})

function judge(title: string, { paceMs }: IsolationStory, figures: IsolationFigures): void {
  const { alone, besideBad, memory, delivered, badRequests, repeats } = figures
  const ratio = usualP99(besideBad) / usualP99(alone)
  const lines = [
    `${title}:`,
    `alone           ${show(alone)}`,
    `beside the bad  ${show(besideBad)}`,
    `p99             ${usualP99(alone)} → ${usualP99(besideBad)} ms: ${ratio.toFixed(2)} ×`,
    ...memory.map(
      ({ liveBytes, earlyBytes, lateBytes, mostBytes }) =>
        `memory          in use ${liveBytes.map(mega).join(', ')}; resident ${mega(earlyBytes)} early, ${mega(lateBytes)} late, ${mega(mostBytes)} at most`,
    ),
    `${delivered} deliveries to the healthy, ${repeats} of them repeated; ${badRequests} requests to the bad`,
  ]
  console.log(lines.join('\n  '))
  expect(delivered).toBe(STORY.healthy * (STORY.warmUp + 3 * STORY.events))
  // A machine that cannot keep up makes everyone wait alike, and hides who stands in whose way.
  expect(meanPace(alone)).toBeGreaterThan((0.9 * 1000) / paceMs)
  expect(ratio).toBeLessThanOrEqual(1.5)
  // Events that come late are caught up with; behind by more, the healthy had it easier beside the bad ones than alone.
  expect(meanPace(besideBad)).toBeGreaterThan(0.9 * meanPace(alone))
  for (const { liveBytes, mostBytes } of memory) {
    expect((liveBytes.at(-1) ?? Number.NaN) - (liveBytes[0] ?? Number.NaN)).toBeLessThan(MOST_GROWTH)
    expect(mostBytes).toBeLessThan(MOST_MEMORY)
  }
}

const p99Of = ({ latenciesMs }: RoundFigures) => percentile(latenciesMs, 0.99)

/** The median of the rounds: what else the machine does for some seconds spoils a round, not the judgement. */
const usualP99 = (rounds: readonly RoundFigures[]) => percentile(rounds.map(p99Of), 0.5)

const meanPace = (rounds: readonly RoundFigures[]) =>
  rounds.reduce((sum, { eventsPerSecond }) => sum + eventsPerSecond, 0) / rounds.length

function show(rounds: readonly RoundFigures[]): string {
  const all = rounds.flatMap(({ latenciesMs }) => latenciesMs)
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(all, share))
  const each = rounds.map(p99Of).join(', ')
  return `p50 ${p50} · p99 ${p99} (by round ${each}) · most ${most} ms at ${meanPace(rounds).toFixed(1)} events/s`
}

const mega = (bytes: number) => `${Math.round(bytes / MEGABYTE)} MB`
