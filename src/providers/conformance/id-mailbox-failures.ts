import { expect, it } from 'vitest'
import { MailboxMirror } from '../../../test/kit/mailbox/mailbox-mirror.ts'
import { fc } from '../../../test/kit/random/random.ts'
import type { MailboxSuite } from './id-mailbox-fixture.ts'

/** Expired tokens, failed requests, old cursors and interrupted syncs lose no message and announce none twice. */
export function failureConformance(suite: MailboxSuite): void {
  const { session, deliverAll, expectEqual, announced, signal } = suite

  it('throws auth_expired after consent is withdrawn, from every method', async () => {
    const [id = ''] = await deliverAll(1, 1)
    await suite.box.revoke()
    const refused = expect.objectContaining({ name: 'ProviderError', kind: 'auth_expired' })
    await expect(suite.box.mail.verify(suite.box.access, signal)).rejects.toEqual(refused)
    await expect(session().listFolders()).rejects.toEqual(refused)
    await expect(new MailboxMirror().sync(session())).rejects.toEqual(refused)
    await expect(suite.box.mail.liveReads(suite.box.access).getBody({ providerMessageId: id })).rejects.toEqual(refused)
  })

  it('continues with a new token when the current one expires', async () => {
    await deliverAll(1, 2)
    const mirror = new MailboxMirror()
    const opened = session()
    await mirror.sync(opened)
    suite.box.expireTokens()
    await deliverAll(3, 3)
    await mirror.sync(opened)
    await expectEqual(mirror)
    suite.box.expireTokens()
    expect((await suite.box.mail.verify(suite.box.access, signal)).folders).not.toEqual([])
  })

  it('repeats at most one step after a crash between any two', async () => {
    const stop = new Error('killed')
    const mirror = new MailboxMirror()
    /** Stops after each step, until a sync completes. */
    const syncDying = async () => {
      for (let rounds = 0; rounds < 30; rounds += 1) {
        let steps = 0
        const round = mirror.sync(session(), (step) => {
          steps += step.found.length + step.changed.length + step.removed.length
          if (steps > 0) throw stop
        })
        if ((await round.catch((error: unknown) => error)) !== stop) return round
      }
      throw new Error('the sync never completed')
    }
    const [first = ''] = await deliverAll(1, 9)
    await syncDying()
    await expectEqual(mirror)
    await deliverAll(10, 13)
    await suite.box.setRead(first, true)
    await syncDying()
    await expectEqual(mirror)
    expect(announced(mirror)).toEqual(['mail 10', 'mail 11', 'mail 12', 'mail 13'])
    await suite.box.remove(first)
    await deliverAll(14, 14)
    await suite.box.expireCursors()
    await syncDying()
    await expectEqual(mirror)
  })

  it('throws cursor_expired for an unreadable or old cursor', async () => {
    await deliverAll(1, 1)
    const mirror = new MailboxMirror()
    const opened = session()
    await mirror.sync(opened)
    const [scope = ''] = opened.scopes(await opened.listFolders())
    const ask = async (cursor: string) => {
      const oldest = async () => null
      for await (const _step of opened.syncScope({ scope, cursor, initialMessages: 5, oldest, signal })) break
    }
    const expired = expect.objectContaining({ name: 'ProviderError', kind: 'cursor_expired' })
    await expect(ask('nonsense')).rejects.toEqual(expired)
    await suite.box.expireCursors()
    await expect(ask(mirror.cursors.get(scope) ?? '')).rejects.toEqual(expired)
  })

  it('finds every difference after cursors expire, and fetches nothing older than what is stored', async () => {
    await deliverAll(1, 3)
    const [fourth = '', fifth = '', sixth = '', seventh = ''] = await deliverAll(4, 8)
    const path = await suite.box.createFolder('Projects')
    const mirror = new MailboxMirror(5)
    const opened = session()
    await mirror.sync(opened)
    await suite.box.setRead(fourth, true)
    await suite.box.setStarred(fifth, true)
    await suite.box.remove(sixth)
    await suite.box.move(seventh, path)
    await deliverAll(9, 9)
    await suite.box.expireCursors()
    const steps = await mirror.sync(opened)
    expect(mirror.subjects()).toEqual(['mail 4', 'mail 5', 'mail 7', 'mail 8', 'mail 9'])
    expect(mirror.bySubject('mail 4').message.unread).toBe(false)
    expect(mirror.bySubject('mail 5').message.starred).toBe(true)
    expect(mirror.bySubject('mail 7').folders).toEqual([path])
    expect(steps.some((step) => step.refetched)).toBe(true)
    const before = steps.flatMap((step) => step.found).filter(({ message }) => message.subject === 'mail 9')
    expect(before).toHaveLength(1)
    await deliverAll(10, 10)
    await mirror.sync(opened)
    expect(announced(mirror)).toEqual(['mail 10'])
  })

  it('leaves out a message that is deleted before it is fetched', async () => {
    const mirror = new MailboxMirror()
    const opened = session()
    await mirror.sync(opened)
    const [first = '', second = ''] = await deliverAll(1, 3)
    await suite.box.remove(first)
    await suite.box.move(second, suite.box.trash)
    await suite.box.remove(second)
    await mirror.sync(opened)
    expect(mirror.subjects()).toEqual(['mail 3'])
  })

  it('waits for a short Retry-After, throws rate_limited for a long one, and loses nothing', async () => {
    await deliverAll(1, 2)
    const mirror = new MailboxMirror()
    suite.box.fail('rate_limited', { retryAfterS: 0 })
    await mirror.sync(session())
    await expectEqual(mirror)
    await deliverAll(3, 4)
    suite.box.fail('rate_limited', { retryAfterS: 600 })
    await expect(mirror.sync(session())).rejects.toEqual(
      expect.objectContaining({ kind: 'rate_limited', retryAfterMs: 600_000 }),
    )
    // Closing the mailbox ends the pause.
    await suite.box.mail.closeConnections(suite.box.access.accountId)
    await mirror.sync(session())
    await expectEqual(mirror)
    expect(announced(mirror)).toEqual(['mail 3', 'mail 4'])
  })

  it.each(['unavailable', 'malformed', 'reset'] as const)(
    'throws unavailable for a failure (%s), and continues with the next sync',
    async (how) => {
      await deliverAll(1, 3)
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      await deliverAll(4, 4)
      suite.box.fail(how, { times: 50 })
      await expect(mirror.sync(opened)).rejects.toMatchObject({ name: 'ProviderError', kind: 'unavailable' })
      await expect(suite.box.mail.verify(suite.box.access, signal)).rejects.toMatchObject({ kind: 'unavailable' })
      suite.box.heal()
      await mirror.sync(opened)
      await expectEqual(mirror)
      expect(announced(mirror)).toEqual(['mail 4'])
    },
  )

  it('is in sync after any sequence of changes, failures and expired cursors', async () => {
    const act = fc.record({
      kind: fc.constantFrom('deliver', 'read', 'star', 'move', 'remove', 'sync', 'expire', 'fail', 'token'),
      pick: fc.nat(20),
    })
    await fc.assert(
      fc
        .asyncProperty(fc.array(act, { minLength: 5, maxLength: 25 }), async (acts) => {
          const path = await suite.box.createFolder('Projects')
          const mirror = new MailboxMirror()
          const all: string[] = []
          await mirror.sync(session())
          for (const { kind, pick } of acts) {
            const messages = await suite.box.contents()
            const id = messages[pick % Math.max(1, messages.length)]?.id
            if (kind === 'deliver') all.push(...(await deliverAll(all.length + 1, all.length + 1)))
            if (kind === 'sync') await mirror.sync(session()).catch(() => {})
            if (kind === 'expire') await suite.box.expireCursors()
            if (kind === 'token') suite.box.expireTokens()
            if (kind === 'fail') suite.box.fail(pick % 2 === 0 ? 'unavailable' : 'reset', { times: 1 + (pick % 3) })
            if (id === undefined) continue
            if (kind === 'read') await suite.box.setRead(id, pick % 2 === 0)
            if (kind === 'star') await suite.box.setStarred(id, pick % 2 === 0)
            if (kind === 'move')
              await suite.box.move(id, [suite.box.inbox, path, suite.box.trash][pick % 3] ?? suite.box.inbox)
            if (kind === 'remove') await suite.box.remove(id)
          }
          suite.box.heal()
          await mirror.sync(session())
          await expectEqual(mirror)
        })
        .beforeEach(async () => {
          await suite.box.mail.closeConnections()
          await suite.box.stop()
          await suite.renew()
        }),
      { numRuns: 8 },
    )
  })

  it('ends a sync at once when its signal aborts, and loses nothing', async () => {
    await deliverAll(1, 3)
    const giveUp = new AbortController()
    const opened = session()
    const [scope = ''] = opened.scopes(await opened.listFolders())
    const reason = new Error('stopped')
    giveUp.abort(reason)
    const request = { scope, cursor: null, initialMessages: 5, oldest: async () => null, signal: giveUp.signal }
    const ask = async () => {
      for await (const _step of opened.syncScope(request)) break
    }
    await expect(ask()).rejects.toThrow('stopped')
    const mirror = new MailboxMirror()
    await mirror.sync(opened)
    await expectEqual(mirror)
  })
}
