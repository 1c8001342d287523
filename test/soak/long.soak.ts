import { describe, expect, it, onTestFinished } from 'vitest'
import { percentile } from '../../bench/figures.ts'
import { temporaryFolder } from '../kit/database/database.ts'
import { startOwnPostgres } from '../kit/database/postgres-server.ts'
import { describeLife, memorySlope } from '../scenarios/long-run/process-lives.ts'
import { runLong } from '../scenarios/long-run/run.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { radicaleAvailable } from '../servers/radicale.ts'
import { hasRedis, startRedis } from '../servers/redis.ts'

/** Shorter while you change something: `LONG_MINUTES=3`. */
const LENGTH_MS = Number(process.env.LONG_MINUTES ?? 120) * 60_000
/** More on a machine that does other work: `LONG_LIVE_MS=1000`. */
const MAX_LIVE_MS = Number(process.env.LONG_LIVE_MS ?? 50)
const ACCOUNTS = Number(process.env.LONG_ACCOUNTS ?? 300)
const KILL_EVERY_MS = Math.min(600_000, LENGTH_MS / 4)
/** Caches and connection pools are full after it. */
const SETTLED_MS = 30 * 60_000
/** A shorter life says nothing about an hour. */
const LEAST_MS = 15 * 60_000
const MAX_MEGABYTES_PER_HOUR = 2

describe.skipIf(!hasRedis || !dovecotAvailable() || !radicaleAvailable())('a long run', () => {
  it(`loses and repeats nothing in ${LENGTH_MS / 60_000} minutes, with flat memory`, {
    timeout: LENGTH_MS + 3_600_000,
  }, async () => {
    const [postgres, redis] = await Promise.all([startOwnPostgres({ autovacuum: 'on' }), startRedis()])
    onTestFinished(() => Promise.all([postgres.stop(), redis.close()]).then(() => undefined))
    const place = {
      dataDir: await temporaryFolder(onTestFinished),
      databaseUrl: postgres.url,
      redisUrl: redis.url,
    }
    const counts = await runLong(place, {
      lengthMs: LENGTH_MS,
      accounts: ACCOUNTS,
      hosts: 4,
      edited: 15,
      mailPaceMs: 500,
      sendPaceMs: 5_000,
      bookingPaceMs: 15_000,
      editPaceMs: 10_000,
      killEveryMs: KILL_EVERY_MS,
      say: console.log,
    })
    const { announced, sends, bookings, edits, kills, liveMs, lives } = counts
    const [p50, p99, most] = [0.5, 0.99, 1].map((p) => percentile(liveMs, p))
    const slopes = lives.flatMap((life) => {
      const slope = memorySlope(life, SETTLED_MS, LEAST_MS)
      return slope === undefined ? [] : [{ name: life.name, ...slope }]
    })
    console.log(
      [
        `${LENGTH_MS / 60_000} minutes, ${ACCOUNTS} accounts, ${kills} kills, one rolling restart: nothing lost, nothing twice`,
        `${announced.events} messages announced, ${announced.duplicates} deliveries repeated under the same ids`,
        `${sends.sent} messages sent, ${sends.uncertain} uncertain (${sends.uncertainDelivered} of them delivered)`,
        `${bookings} bookings, ${edits} edits of calendars`,
        `take-over ${Math.round(counts.longestTakeOverMs)} ms, exit ${Math.round(counts.longestExitMs)} ms at most`,
        `/health/live p50 ${p50?.toFixed(1)} · p99 ${p99?.toFixed(1)} · max ${most?.toFixed(0)} ms (n = ${liveMs.length})`,
        ...lives.map(describeLife),
        ...slopes.map(
          ({ name, megabytesPerHour, uncertainty, samples, overMinutes }) =>
            `${name}: ${megabytesPerHour.toFixed(2)} ± ${uncertainty.toFixed(2)} MB/h over ${overMinutes.toFixed(0)} min (n = ${samples})`,
        ),
      ].join('\n'),
    )
    for (const { megabytesPerHour } of slopes) expect(megabytesPerHour).toBeLessThan(MAX_MEGABYTES_PER_HOUR)
    expect(p99).toBeLessThan(MAX_LIVE_MS)
  })
})
