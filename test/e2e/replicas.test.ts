import { describe, expect, it, onTestFinished } from 'vitest'
import { describePostgres, temporaryFolder } from '../kit/database/database.ts'
import { startOwnPostgres } from '../kit/database/postgres-server.ts'
import { runReplicas } from '../scenarios/replicas.ts'
import { dovecotAvailable } from '../servers/dovecot.ts'
import { hasRedis, startRedis } from '../servers/redis.ts'

/** On a server of its own, which restarts. `npm run test:soak -- test/soak/replicas.soak.ts` is the same at full size. */
describe.skipIf(!hasRedis || !dovecotAvailable())('replicas', () => {
  describePostgres('on PostgreSQL', () => {
    it('announces each message once while replicas are killed and suspended, and Redis and PostgreSQL restart', async () => {
      const [postgres, redis] = await Promise.all([startOwnPostgres(), startRedis()])
      onTestFinished(() => Promise.all([postgres.stop(), redis.close()]).then(() => undefined))
      const size = { replicas: 2, mailboxes: 20, paceMs: 400, messages: 5, outageMs: 1_000 }
      const counts = await runReplicas(await temporaryFolder(onTestFinished), postgres, redis, {
        ...size,
        say: () => {},
      })
      expect(counts.events).toBe(counts.messages)
    })
  })
})
