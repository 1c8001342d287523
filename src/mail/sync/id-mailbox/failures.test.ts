import { describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { PROVIDERS, QUIET, syncedDouble } from '../../../../test/kit/mailbox/synced-double.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { ProviderError } from '../../../providers/contract/index.ts'

describe.each(['whole', 'folders'] as const)('syncing a provider that assigns message ids (%s)', (kind) => {
  describeEachDatabase('failures and polling', (open) => {
    it.each(['rate_limited', 'unavailable'] as const)(
      'delays only the account whose provider asked for a pause (%s), however often it is woken',
      async (failure) => {
        const { db, box, service, accountId } = await syncedDouble(kind, open, { timing: { stalledAfter: 1 } })
        const waited = new ProviderError(failure, 'come back later', { retryAfterMs: 600_000 })
        box.failures.push(waited)
        await service.wake(accountId)
        await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'error' }))
        const other = await service.linkMailbox(PROVIDERS[kind], 'bob')
        await connected(service, other)
        const recordCalls = async (work: () => Promise<void>) => {
          const before = box.calls.length
          await work()
          return box.calls.length - before
        }
        const calls = await recordCalls(() => service.synced(other))
        // Hints arrive in order: when the other account has run, the first one was woken too.
        const both = await recordCalls(async () => {
          for (let n = 0; n < 3; n += 1) await service.wake(accountId)
          await service.synced(other)
        })
        expect(both).toBe(calls)
        const { nextRunAt } = service.sync.state(accountId) ?? {}
        expect(nextRunAt).toBeGreaterThan(Date.now() + 500_000)
        expect(await accountEvents(db, accountId)).toEqual(['account.sync_stalled'])
      },
    )

    it('runs at once when a person requests a sync during a pause, and continues the pause if that fails', async () => {
      const { box, service, accountId, received } = await syncedDouble(kind, open)
      box.failures.push(new ProviderError('rate_limited', 'the daily limit', { retryAfterMs: 3_600_000 }))
      await service.wake(accountId)
      const nextRunAt = () => service.sync.state(accountId)?.nextRunAt ?? 0
      await eventually(() => expect(nextRunAt()).toBeGreaterThan(Date.now() + 3_000_000))
      box.deliver('n')
      box.failures.push(new ProviderError('unavailable', 'the connection failed'))
      await service.requestNow(accountId)
      await eventually(() => expect(box.failures).toEqual([]))
      await eventually(() => expect(nextRunAt()).toBeGreaterThan(Date.now() + 3_000_000))
      expect(service.sync.state(accountId)).toMatchObject({ state: 'waiting', attempts: 2 })
      const asked = box.calls.length
      await service.wake(accountId)
      await service.requestNow(accountId)
      await received('n')
      expect(box.calls.length).toBeGreaterThan(asked)
      expect(box.endedPauses).toBe(2)
    })

    it('backs off when a rate limit names a delay of zero', async () => {
      const { box, service, accountId, same } = await syncedDouble(kind, open)
      const limits = Array.from({ length: 3 }, () => new ProviderError('rate_limited', 'wait', { retryAfterMs: 0 }))
      box.failures.push(...limits)
      await service.wake(accountId)
      await eventually(() => expect(service.sync.state(accountId)?.attempts).toBeGreaterThan(0))
      await eventually(async () => expect(box.failures).toEqual([]))
      await same()
    })

    it('stops at auth_error after a refused token, and resumes after a new consent', async () => {
      const { db, box, service, accountId, received, same } = await syncedDouble(kind, open)
      box.failures.push(new ProviderError('auth_expired', 'the consent was revoked'))
      await service.wake(accountId)
      await eventually(async () =>
        expect(await service.accounts.get(accountId)).toMatchObject({ status: 'auth_error' }),
      )
      const asked = box.calls.length
      box.deliver('n')
      await service.synced(accountId)
      await eventually(() => expect(service.sync.state(accountId)).toMatchObject({ state: 'idle' }))
      expect(box.calls.length).toBe(asked)
      expect(await service.linkMailbox(PROVIDERS[kind])).toBe(accountId)
      await received('n')
      await same()
      await connected(service, accountId)
      expect(await accountEvents(db, accountId)).toEqual(['account.auth_error', 'account.updated', 'account.recovered'])
    })

    it('stops at auth_error with its reason when a scope is missing on every call, and resumes after a new consent', async () => {
      const { db, box, service, accountId, received } = await syncedDouble(kind, open)
      const refused = () => new ProviderError('rejected', 'the user did not grant Mail.Read', { missingScope: true })
      box.failures.push(refused())
      await service.wake(accountId)
      await eventually(() => expect(box.failures).toEqual([]))
      await connected(service, accountId)
      for (let n = 0; n < 100; n += 1) box.failures.push(refused())
      box.deliver('n')
      await service.wake(accountId)
      await eventually(async () =>
        expect(await service.accounts.get(accountId)).toMatchObject({
          status: 'auth_error',
          statusReason: 'the user did not grant Mail.Read',
        }),
      )
      const asked = box.calls.length
      await service.synced(accountId)
      expect([box.calls.length, service.sync.state(accountId)?.state]).toEqual([asked, 'idle'])
      box.failures.length = 0
      await service.linkMailbox(PROVIDERS[kind])
      await received('n')
      await connected(service, accountId)
      expect(await accountEvents(db, accountId)).toEqual(['account.auth_error', 'account.updated', 'account.recovered'])
    })

    it.each(['rejected', 'not_found'] as const)(
      'is not connected when every folder is %s, and recovers',
      async (why) => {
        const { db, box, service, accountId, received, same } = await syncedDouble(kind, open)
        const refused = () => new ProviderError(why, 'every folder is refused')
        const refuse = () => {
          for (let n = 0; n < 100; n += 1)
            box.matchingFailures.push({ on: /^(list|follow|compare) /, error: refused() })
        }
        refuse()
        box.deliver('n')
        await service.wake(accountId)
        await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'error' }))
        expect(await accountEvents(db, accountId)).toEqual(['account.sync_stalled'])
        box.matchingFailures.length = 0
        await received('n')
        await same()
        await connected(service, accountId)
        expect(await accountEvents(db, accountId)).toEqual(['account.sync_stalled', 'account.recovered'])
      },
    )

    it('reports sync_stalled only when a temporary failure lasts, and never auth_error', async () => {
      const { db, box, service, accountId, same, received } = await syncedDouble(kind, open)
      for (let n = 0; n < 4; n += 1) box.failures.push(new ProviderError('unavailable', 'it is down'))
      box.deliver('n')
      await service.wake(accountId)
      await received('n')
      await same()
      await connected(service, accountId)
      expect(await accountEvents(db, accountId)).toEqual(['account.sync_stalled', 'account.recovered'])
    })

    it('polls an unwatched account at `pollMs`', async () => {
      const { db, box, service, accountId, received } = await syncedDouble(kind, open, { timing: { pollMs: 200 } })
      await db.transaction((tx) => service.accounts.change(tx, accountId, { watch: false }))
      box.deliver('n')
      await received('n')
    })

    it("polls a watched account at its provider's interval", async () => {
      const { box, received } = await syncedDouble(kind, open, { pollMs: 150 })
      box.deliver('n')
      await received('n')
    })

    it('writes nothing for an account that another process has taken over', async () => {
      const { db, box, service, accountId } = await syncedDouble(kind, open, {
        owning: { roundMs: 60_000, hintGapMs: 60_000 },
      })
      await db.transaction((tx) =>
        tx
          .updateTable('accounts')
          .set((eb) => ({ epoch: eb('epoch', '+', 1), ownerInstance: 'ins_other' }))
          .where('id', '=', accountId)
          .execute(),
      )
      box.deliver('n')
      const asked = box.calls.length
      await service.wake(accountId)
      await eventually(() => expect(box.calls.length).toBeGreaterThan(asked))
      await service.stop()
      expect(await db.read.selectFrom('messages').select('id').execute()).toEqual([])
    })

    it('requests only changes after a restart', async () => {
      const { db, box, service, accountId, same } = await syncedDouble(kind, open, {
        before: (mailbox) => Array.from({ length: 10 }, (_, n) => mailbox.deliver(`o${n}`)),
      })
      await same()
      await service.stop()
      box.calls.length = 0
      box.deliver('n')
      const again = syncService(db, { mail: box.mail, timing: QUIET })
      onTestFinished(() => again.stop())
      await again.start()
      await eventually(async () => {
        const rows = await db.read.selectFrom('messages').select('id').where('accountId', '=', accountId).execute()
        expect(rows).toHaveLength(11)
      })
      expect(box.calls.filter((call) => call.startsWith('list') || call.startsWith('compare'))).toEqual([])
    })
  })
})

async function accountEvents(db: Awaited<ReturnType<typeof syncedDouble>>['db'], accountId: string) {
  const rows = await db.read
    .selectFrom('events')
    .select('type')
    .where('accountId', '=', accountId)
    .where('type', 'like', 'account.%')
    .orderBy('sequence')
    .execute()
  return rows.map((row) => row.type).filter((type) => type !== 'account.connected')
}
