import { describe, expect, it, onTestFinished } from 'vitest'
import { describePostgres, temporaryFolder } from '../kit/database/database.ts'
import { startOwnPostgres } from '../kit/database/postgres-server.ts'
import { runReplicas } from '../scenarios/replicas.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { hasRedis, startRedis } from '../servers/redis.ts'

/** Less on a machine that does other work: `REPLICA_MAILBOXES=60`. */
const MAILBOXES = Number(process.env.REPLICA_MAILBOXES ?? 300)
/** After the last failure, all accounts are owned and up to date. */
const CAUGHT_UP_MS = 60_000

describe.skipIf(!hasRedis || !dovecotAvailable())('replicas', () => {
  describePostgres('on PostgreSQL', () => {
    it(`three replicas announce each message in ${MAILBOXES} mailboxes once over every failure`, {
      timeout: 3_600_000,
    }, async () => {
      const [postgres, redis] = await Promise.all([startOwnPostgres(), startRedis()])
      onTestFinished(() => Promise.all([postgres.stop(), redis.close()]).then(() => undefined))
      const scenario = {
        replicas: 3,
        mailboxes: MAILBOXES,
        paceMs: 50,
        messages: 2 * MAILBOXES,
        outageMs: 60_000,
        say: console.log,
      }
      const { messages, events, duplicates, caughtUpMs } = await runReplicas(
        await temporaryFolder(onTestFinished),
        postgres,
        redis,
        scenario,
      )
      console.log(
        `three replicas, ${MAILBOXES} mailboxes: ${messages} messages, ${events} events, ${duplicates} deliveries repeated under the same ids; caught up in ${Math.round(caughtUpMs)} ms`,
      )
      expect(events).toBe(messages)
      expect(caughtUpMs).toBeLessThan(CAUGHT_UP_MS)
    })
  })
})
