import { readFile } from 'node:fs/promises'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Databases, describePostgres } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { type ServiceProcess, SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { client } from '../scenarios/client.ts'
import { connectMailboxes, numberedMessage, PASSWORD, userNames } from '../scenarios/mailboxes.ts'
import { openOwnershipJournal } from '../scenarios/ownership-journal.ts'
import { dovecotAvailable, startDovecot } from '../servers/dovecot.ts'

/** By the clock of the database, on a machine without other work. Time for which processes wait for a processor comes on top. */
const TAKEN_OVER_MS = 10_000
const AFTER_RESTART_MS = 6_000

/** For how long processes of this machine have waited for a processor, since the function was called. 0 where the kernel does not say. */
async function watchContention(): Promise<() => Promise<number>> {
  const totalMs = async () => {
    const pressure = await readFile('/proc/pressure/cpu', 'utf8').catch(() => '')
    return Number(/^some .*total=(\d+)/m.exec(pressure)?.[1] ?? 0) / 1000
  }
  const before = await totalMs()
  return async () => (await totalMs()) - before
}

describe.skipIf(!dovecotAvailable())('a killed instance', () => {
  describePostgres('on PostgreSQL', (open: Databases) => {
    const running = new Set<ServiceProcess>()
    afterEach(async () => {
      await Promise.all([...running].map((service) => service.stop()))
      running.clear()
    })

    it('leaves its accounts to another one within 10 s, or to itself within 6 s of its restart', async () => {
      const { databaseUrl = '', dataDir } = await open.place()
      const start = async () => {
        const service = await startServiceProcess({ dataDir, databaseUrl, env: SHARED_KEYS })
        running.add(service)
        return service
      }
      const kill = async (service: ServiceProcess) => {
        running.delete(service)
        await service.kill()
        return Date.now()
      }
      const [dovecot, a] = [await startDovecot(), await start()]
      onTestFinished(() => dovecot.stop())
      const users = userNames(4)
      for (const user of users) await dovecot.addUser(user, PASSWORD)
      const journal = await openOwnershipJournal(databaseUrl)
      onTestFinished(() => journal.close())
      await connectMailboxes(client(a.url, a.key), dovecot, users)
      const b = await start()
      await eventually(() => journal.expectShares(2, users.length))
      const whileKilled = await watchContention()
      const killedAt = await kill(a)
      await eventually(() => journal.expectShares(1, users.length))
      const takenOverAt = await journal.lastGainedAt()
      expect(b.output()).toMatch(/"missing":"lock"[^\n]*"An instance is dead/)
      expect(takenOverAt - killedAt).toBeLessThan(TAKEN_OVER_MS + (await whileKilled()))

      await kill(b)
      for (const user of users) await dovecot.deliver(user, numberedMessage('while it was down'))
      const sinceRestart = await watchContention()
      const again = await start()
      await eventually(async () => expect(await journal.arrivals('while it was down')).toHaveLength(users.length))
      expect(again.output()).toMatch(/"missing":"lock"[^\n]*"An instance is dead/)
      const startedAt = await journal.startOfOnlyInstance()
      const syncedAt = Math.max(...(await journal.arrivals('while it was down')))
      expect(syncedAt - startedAt).toBeLessThan(AFTER_RESTART_MS + (await sinceRestart()))
    })
  })
})
