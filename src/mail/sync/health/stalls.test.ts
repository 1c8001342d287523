import { expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { MailboxDouble } from '../../../../test/kit/mailbox/double/mailbox-double.ts'
import { type SyncServiceOptions, syncService } from '../../../../test/kit/mailbox/sync.ts'
import type { Db } from '../../../platform/db/index.ts'
import { ProviderError } from '../../../providers/contract/index.ts'
import { readSyncHealth } from '../index.ts'

const HOUR = 3_600_000
const OWNING = { roundMs: 30, deadAfterMs: HOUR, soleProcess: false }

describeEachDatabase('accounts that are not synced', (open) => {
  function service(db: Db, options: SyncServiceOptions = {}) {
    const started = syncService(db, { owning: OWNING, ...options, timing: { stalledAfterMs: 300, ...options.timing } })
    onTestFinished(() => started.stop())
    return started
  }

  async function readEvents(db: Db, accountId: string): Promise<string[]> {
    const rows = await db.read
      .selectFrom('events')
      .select('type')
      .where('accountId', '=', accountId)
      .where('type', 'like', 'account.%')
      .orderBy('sequence')
      .execute()
    return rows.map(({ type }) => type.replace('account.', ''))
  }

  const stalledAs = (db: Db, accountId: string, ...rest: string[]) =>
    eventually(async () => expect(await readEvents(db, accountId)).toEqual(['connected', 'sync_stalled', ...rest]))

  it('a sync that hangs is announced once, and its end too', async () => {
    const db = await open()
    const box = new MailboxDouble('whole')
    let release = () => {}
    let hung = new Promise<void>((resolve) => {
      release = resolve
    })
    const mail = {
      ...box.mail,
      openSession(access: Parameters<typeof box.mail.openSession>[0]) {
        const session = box.mail.openSession(access)
        const listFolders: typeof session.listFolders = async (signal) => {
          await hung
          return session.listFolders(signal)
        }
        return { ...session, listFolders }
      },
    }
    const instance = service(db, { mail, owning: OWNING })
    const accountId = await instance.linkMailbox('gmail')
    await instance.start()
    await stalledAs(db, accountId)
    const account = await instance.accounts.get(accountId)
    expect(account).toMatchObject({ status: 'error', statusReason: expect.stringContaining('has not ended') })
    expect(instance.sync.lagMs(accountId)).toBeGreaterThanOrEqual(300)
    const health = await readSyncHealth({ db, ownership: instance.ownership, sync: instance.sync })
    expect(health).toMatchObject({ stalledAccounts: 1, unownedAccounts: 0 })
    expect(health.greatestLagMs).toBeGreaterThanOrEqual(300)
    release()
    hung = Promise.resolve()
    await stalledAs(db, accountId, 'recovered')
    await eventually(async () => {
      const now = await readSyncHealth({ db, ownership: instance.ownership, sync: instance.sync })
      expect(now).toEqual({ stalledAccounts: 0, unownedAccounts: 0, greatestLagMs: 0 })
    })
  })

  it('a polled account whose provider asks for a long pause is announced, a paused one is not', async () => {
    const db = await open()
    const box = new MailboxDouble('whole')
    const instance = service(db, { mail: box.mail })
    const polled = await instance.linkMailbox('gmail', 'polled')
    await db.transaction((tx) => instance.accounts.change(tx, polled, { watch: false }))
    box.failures.push(new ProviderError('rate_limited', 'too many requests today', { retryAfterMs: HOUR }))
    await instance.start()
    await eventually(() => expect(instance.sync.state(polled)?.attempts).toBe(1))
    const paused = await instance.linkMailbox('gmail', 'paused')
    await db.transaction((tx) => instance.accounts.change(tx, paused, { paused: true }))
    await eventually(async () => expect(await readEvents(db, polled)).toEqual(['connected', 'updated', 'sync_stalled']))
    expect((await instance.accounts.get(polled)).statusReason).toBe('too many requests today')
    await instance.requestNow(polled)
    await eventually(async () => expect((await readEvents(db, polled)).slice(2)).toEqual(['sync_stalled', 'recovered']))
    expect(await readEvents(db, paused)).toEqual(['connected', 'paused'])
    expect([instance.sync.lagMs(paused), instance.sync.lag()]).toEqual([
      null,
      { stalledAccounts: 0, greatestLagMs: expect.any(Number) },
    ])
  })

  it('an account that no instance owns is announced once, and recovers with its owner', async () => {
    const db = await open()
    const box = new MailboxDouble('whole')
    // Alive by its heartbeat, it takes no account and keeps the others from taking its share.
    const ghost = { id: 'ghost', heartbeatAt: Date.now() + HOUR, startedAt: 0 }
    await db.transaction((tx) => tx.insertInto('instances').values(ghost).execute())
    const instances = [service(db, { mail: box.mail }), service(db, { mail: box.mail })]
    const [first] = instances
    if (first === undefined) throw new Error('unreachable')
    const ids: string[] = []
    for (let n = 0; n < 6; n += 1) ids.push(await first.linkMailbox('gmail', `user-${n}`))
    for (const instance of instances) await instance.start()
    const unowned = async () => {
      const rows = await db.read.selectFrom('accounts').select('id').where('ownerInstance', 'is', null).execute()
      return rows.map(({ id }) => id)
    }
    // Until the instances have their shares, others may have been without an owner for as long.
    const announced = (rest: string) => new RegExp(`^connected(,sync_stalled,recovered)*${rest}$`)
    await eventually(async () => {
      const without = await unowned()
      expect(without).toHaveLength(2)
      for (const id of ids) {
        const events = (await readEvents(db, id)).join()
        expect(events).toMatch(announced(without.includes(id) ? ',sync_stalled' : ''))
      }
    })
    await eventually(async () => {
      for (const { ownership, sync } of instances)
        expect(await readSyncHealth({ db, ownership, sync })).toMatchObject({ stalledAccounts: 2, unownedAccounts: 2 })
    })
    await db.transaction((tx) => tx.deleteFrom('instances').where('id', '=', 'ghost').execute())
    await eventually(async () => {
      for (const id of ids) expect((await readEvents(db, id)).join()).toMatch(announced(''))
    })
    expect(ids.filter((id) => !instances.some(({ ownership }) => ownership.owned().has(id)))).toEqual([])
  })
})
