import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { OwnPostgres } from '../kit/database/postgres-server.ts'
import { eventually } from '../kit/eventually.ts'
import { type ServiceProcess, SHARED_KEYS, startServiceProcess } from '../kit/service/process.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { RedisServerProcess } from '../servers/redis.ts'
import { type AnnouncementCounts, expectEachAnnouncedOnce } from './announcements.ts'
import { startApplication } from './application.ts'
import { client } from './client.ts'
import { connectMailboxes, type Mail, PASSWORD, startMail, subscribe, userNames } from './mailboxes.ts'
import { type OwnershipJournal, openOwnershipJournal } from './ownership-journal.ts'
import { expectHealth } from './redis-restarts.ts'

export interface ReplicaScenario {
  replicas: number
  mailboxes: number
  /** Between two messages, which arrive throughout. */
  paceMs: number
  /** At least so many arrive during each phase. */
  messages: number
  /** How long PostgreSQL is away, at least. */
  outageMs: number
  /** Called with a line for each phase. */
  say(line: string): void
}

export interface ReplicaCounts extends AnnouncementCounts {
  messages: number
  /** After the last failure, until every account was owned and every message announced. */
  caughtUpMs: number
}

const MANY_MS = 300_000

/**
 * Messages arrive throughout in mailboxes that several replicas share, while one replica is killed and started again, one is suspended
 * past its heartbeat and resumed, Redis restarts empty, and PostgreSQL restarts, the second time after an outage. Requires exactly one event per message, that no
 * account is synced by two replicas under one epoch or out of the order of epochs, and that a restart of PostgreSQL moves no account.
 */
export async function runReplicas(
  dataDir: string,
  postgres: OwnPostgres,
  redis: RedisServerProcess,
  scenario: ReplicaScenario,
): Promise<ReplicaCounts> {
  const [dovecot, application] = await Promise.all([startDovecot(), startApplication()])
  const users = userNames(scenario.mailboxes)
  const start = async (index: number, port?: number) =>
    startServiceProcess({
      dataDir,
      databaseUrl: namedUrl(postgres.url, `replica-${index}`),
      redisUrl: redis.url,
      env: SHARED_KEYS,
      ...(port !== undefined && { port }),
    })
  const replicas: ServiceProcess[] = []
  let mail: Mail | undefined
  let journal: OwnershipJournal | undefined
  try {
    for (const user of users) await dovecot.addUser(user, PASSWORD)
    for (let index = 0; index < scenario.replicas; index += 1) replicas.push(await start(index))
    const [first, last] = [replicas[0], replicas.at(-1)]
    if (first === undefined || last === undefined) throw new Error('The scenario needs replicas.')
    const owners = await openOwnershipJournal(postgres.url)
    journal = owners
    await subscribe(client(last.url, last.key), application, ['message.received'])
    await connectMailboxes(client(last.url, last.key), dovecot, users)
    await eventually(() => owners.expectShares(scenario.replicas, scenario.mailboxes), MANY_MS)
    const arriving = startMail(dovecot, users, scenario.paceMs)
    mail = arriving
    const phase = async (name: string, work: () => Promise<unknown>) => {
      const startedMs = performance.now()
      await work()
      scenario.say(`${name}: ${Math.round(performance.now() - startedMs)} ms`)
      await arriving.more(scenario.messages)
    }

    const ofFirst = await findInstance(first)
    await first.kill()
    await phase('others own the accounts of the killed replica', () =>
      eventually(() => owners.expectNoAccountsOf(ofFirst), MANY_MS),
    )
    replicas[0] = await start(0, first.port)
    await phase('a new replica owns its share', () =>
      eventually(() => owners.expectShares(scenario.replicas, scenario.mailboxes), MANY_MS),
    )

    const ofLast = await findInstance(last)
    last.signal('SIGSTOP')
    await phase('others own the accounts of the suspended replica', () =>
      eventually(() => owners.expectNoAccountsOf(ofLast), MANY_MS),
    )
    last.signal('SIGCONT')
    await phase('the resumed replica owns its share', () =>
      eventually(() => owners.expectShares(scenario.replicas, scenario.mailboxes), MANY_MS),
    )

    await phase('Redis restarted empty', async () => {
      await redis.stop()
      await redis.start()
    })
    const before = await owners.epochs()
    await phase('PostgreSQL restarted', () => postgres.restart())
    await owners.reconnect()
    // Long enough to take instances for dead whose locks are missing.
    await eventually(() => owners.expectHeartbeatsFor(9_000), MANY_MS)
    expect(await owners.epochs()).toEqual(before)

    await phase('PostgreSQL was away', () =>
      postgres.restart(async () => {
        for (const replica of replicas) await expectHealth(client(replica.url, replica.key), 'degraded')
        await sleep(scenario.outageMs)
      }),
    )
    const restartedMs = performance.now()
    await owners.reconnect()
    for (const replica of replicas) await expectHealth(client(replica.url, replica.key), 'healthy')
    await eventually(() => owners.expectHeartbeatsFor(9_000), MANY_MS)
    expect(await owners.epochs()).toEqual(before)

    await arriving.stop()
    const counts = await expectEachAnnouncedOnce(application, arriving.subjects, MANY_MS)
    await eventually(() => owners.expectShares(scenario.replicas, scenario.mailboxes), MANY_MS)
    const caughtUpMs = performance.now() - restartedMs
    await owners.expectOneWriterPerEpoch()
    return { ...counts, messages: arriving.subjects.length, caughtUpMs }
  } finally {
    for (const replica of replicas) replica.signal('SIGCONT')
    await mail?.stop().catch(() => {})
    await Promise.all(replicas.map((replica) => replica.stop()))
    await journal?.close()
    await application.close()
    await dovecot.stop()
  }
}

/** The name of the replica, on each of its connections. */
function namedUrl(databaseUrl: string, name: string): string {
  const url = new URL(databaseUrl)
  url.searchParams.set('application_name', name)
  return url.href
}

async function findInstance(service: ServiceProcess): Promise<string> {
  const { data } = await client(service.url, service.key).call<{ data: { instance: string } }>(
    'GET',
    '/health/detailed',
  )
  return data.instance
}
