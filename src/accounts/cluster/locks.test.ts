import { afterEach, expect, it, onTestFinished } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describePostgres } from '../../../test/kit/database/database.ts'
import { administer } from '../../../test/kit/database/postgres-server.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { startTcpProxy, type TcpProxy } from '../../../test/servers/tcp-proxy.ts'
import { memoryBus } from '../../platform/bus/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { openPostgres } from '../../platform/db/postgres/postgres.ts'
import { silentLog } from '../../platform/log/index.ts'
import { openPresence, type Presence } from '../../platform/presence/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { Ownership } from '../index.ts'
import { type OwnershipTiming, ownership } from './index.ts'

const HOUR = 3_600_000

/** Whether these instances live is decided by their locks alone. */
describePostgres('locks of instances', (databases) => {
  const running: Ownership[] = []
  afterEach(async () => {
    await Promise.all(running.splice(0).map((instance) => instance.stop()))
  })

  async function world(accounts: number) {
    const place = await databases.place()
    const db = await databases(place)
    const fixture = testAccounts(db)
    for (let i = 0; i < accounts; i += 1) await fixture.link(imapUser(`user-${i}`))
    return { url: place.databaseUrl ?? '', db }
  }

  async function openTestPresence(url: string, instanceId: string): Promise<Presence> {
    const presence = await openPresence({ url, instanceId, monotonic: () => performance.now(), log: silentLog })
    onTestFinished(() => presence.close())
    return presence
  }

  /** An instance with a bus of its own, so that it learns of the others from the database only. */
  async function start(db: Db, instanceId: string, presence?: Presence, changes: Partial<OwnershipTiming> = {}) {
    const dead: string[] = []
    const instance = ownership({
      db,
      bus: memoryBus({ log: silentLog }),
      clock: systemClock,
      log: silentLog,
      instanceId,
      presence,
      onInstanceDead: async (id) => void dead.push(id),
      timing: {
        roundMs: 50,
        deadAfterMs: HOUR,
        hintGapMs: 5,
        lockReadMs: 20,
        sessionMs: 300,
        missingMs: 100,
        ...changes,
      },
    })
    running.push(instance)
    await instance.start()
    return Object.assign(instance, { dead, count: () => instance.owned().size })
  }

  const epochs = async (db: Db) =>
    (await db.read.selectFrom('accounts').select(['id', 'epoch', 'ownerInstance']).orderBy('id').execute()).map(
      ({ id, epoch, ownerInstance }) => `${id} ${ownerInstance} ${epoch}`,
    )

  /** Waits until the presence has watched the others for twice as long as it needs to prove a death, in one session. */
  async function watched(presence: Presence) {
    const { sessionMs = 0 } = (await presence.read()) ?? {}
    return eventually(async () => {
      const view = await presence.read()
      expect(view?.sessionMs).toBeGreaterThan(sessionMs + 800)
      return view
    })
  }

  it('no instance is taken for dead after every session ended, and each holds its lock again', async () => {
    const { url, db } = await world(4)
    const [a, b] = [await openTestPresence(url, 'a'), await openTestPresence(url, 'b')]
    const instances = [await start(db, 'a', a), await start(db, 'b', b)]
    await eventually(() => expect(instances.map((instance) => instance.count())).toEqual([2, 2]))
    await Promise.all([watched(a), watched(b)])
    const before = await epochs(db)
    for (let time = 0; time < 3; time += 1) {
      await administer(url, endSessions('posthorn-presence'))
      await eventually(() => expect([a.key, b.key]).not.toContain(undefined))
    }
    await Promise.all([watched(a), watched(b)])
    expect((await a.read())?.keys).toEqual(new Set([a.key, b.key]))
    expect(await epochs(db)).toEqual(before)
    expect(instances.flatMap((instance) => instance.dead)).toEqual([])
  })

  it('an instance that holds no lock is left to its heartbeat, until it holds one', async () => {
    const { url, db } = await world(2)
    const watching = await openTestPresence(url, 'a')
    const a = await start(db, 'a', watching)
    const proxy = await startTcpProxy(Number(new URL(url).port))
    onTestFinished(() => proxy.close())
    const viaProxy = new URL(url)
    viaProxy.port = String(proxy.port)
    const presence = await openTestPresence(viaProxy.href, 'b')
    const b = await start(db, 'b', presence)
    await eventually(() => expect([a.count(), b.count()]).toEqual([1, 1]))
    // Only this connection is lost: the pool of the instance still works.
    await proxy.cut()
    const lockOfB = async () =>
      (await db.read.selectFrom('instances').select('lockKey').where('id', '=', 'b').executeTakeFirst())?.lockKey
    await eventually(async () => expect(await lockOfB()).toBeNull())
    expect((await watched(watching))?.keys).toEqual(new Set([watching.key]))
    expect([a.dead, a.count(), b.count()]).toEqual([[], 1, 1])
    await proxy.restore()
    await eventually(async () => expect(await lockOfB()).toBe(presence.key))
  })

  it('an outage of the database, during which no instance has heartbeats, makes none of them dead', async () => {
    const { url, db } = await world(4)
    const place = new URL(url)
    const links: { proxy: TcpProxy; db: Db }[] = []
    for (let index = 0; index < 2; index += 1) {
      const proxy = await startTcpProxy(Number(place.port))
      const via = new URL(url)
      via.port = String(proxy.port)
      const linked = openPostgres({ url: via.href, maxConnections: 2, onError: () => {} })
      onTestFinished(() => linked.close().then(() => proxy.close()))
      links.push({ proxy, db: linked })
    }
    const [first, second] = links
    if (first === undefined || second === undefined) throw new Error('unreachable')
    const timing = { deadAfterMs: 1000, settleMs: 4000 }
    const [a, b] = [await start(first.db, 'a', undefined, timing), await start(second.db, 'b', undefined, timing)]
    await eventually(() => expect([a.count(), b.count()]).toEqual([2, 2]))
    const before = await epochs(db)
    const readBeat = async (id: string) =>
      (await db.read.selectFrom('instances').select('heartbeatAt').where('id', '=', id).executeTakeFirst())
        ?.heartbeatAt ?? 0
    const began = await readBeat('a')
    await eventually(async () => expect(await readBeat('a')).toBeGreaterThan(began + timing.settleMs + 500))
    for (const { proxy } of links) await proxy.cut()
    await eventually(() => expect([a.count(), b.count()]).toEqual([0, 0]))
    const last = await readBeat('a')
    await first.proxy.restore()
    await eventually(async () => expect(await readBeat('a')).toBeGreaterThan(last))
    await eventually(() => expect(a.count()).toBe(2))
    await second.proxy.restore()
    await eventually(() => expect(b.count()).toBe(2))
    expect(await epochs(db)).toEqual(before)
    expect([...a.dead, ...b.dead]).toEqual([])
  })

  it('an account whose row a transaction has locked is taken as soon as that ends', async () => {
    const { db } = await world(3)
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const isLocked = new Promise<void>((resolve, reject) => {
      const holding = db.transaction(async (tx) => {
        await tx.selectFrom('accounts').select('id').orderBy('id').limit(1).modifyEnd(db.dialect.forUpdate).execute()
        resolve()
        await released
      })
      holding.catch(reject)
    })
    await isLocked
    // Only what follows the first round can take the locked one.
    const a = await start(db, 'a', undefined, { roundMs: HOUR })
    expect(a.count()).toBe(2)
    release()
    await eventually(() => expect(a.count()).toBe(3))
  })

  it('a connection through a pooler takes no lock', async () => {
    const { url } = await world(0)
    const proxy = await startTcpProxy(Number(new URL(url).port), namingAnotherProcess)
    onTestFinished(() => proxy.close())
    const pooled = new URL(url)
    pooled.port = String(proxy.port)
    const presence = await openTestPresence(pooled.href, 'a')
    expect([presence.isPooled, presence.key, await presence.read()]).toEqual([true, undefined, undefined])
    const direct = await openTestPresence(url, 'b')
    expect((await direct.read())?.keys).toEqual(new Set([direct.key]))
  })
})

const endSessions = (name: string) => `select pg_terminate_backend(pid) from pg_stat_activity
  where application_name = '${name}' and datname = current_database()`

/** As poolers do: the process id of BackendKeyData (`K`, length 12) is not that of the server's process. */
function namingAnotherProcess(chunk: Buffer): Buffer {
  const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0, 12]))
  if (at >= 0) chunk.writeUInt32BE(4_000_000, at + 5)
  return chunk
}
