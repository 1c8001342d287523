import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MailboxMirror } from '../../../../test/kit/mailbox/mailbox-mirror.ts'
import { gmailMailbox } from '../../../../test/servers/gmail-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'

/** No throttling, so that the tests do not wait; `rate-limiter.test.ts` covers it. */
const unitsPerMinute = 1e9

describe('syncing a Gmail mailbox', () => {
  let box: Awaited<ReturnType<typeof gmailMailbox>>
  beforeEach(async () => {
    box = await gmailMailbox({ unitsPerMinute })
  })
  afterEach(async () => {
    await box.mail.closeConnections()
    await box.stop()
  })
  const session = () => box.mail.openSession(box.access)

  async function deliverAll(count: number): Promise<string[]> {
    const ids: string[] = []
    for (let i = 0; i < count; i += 1) ids.push(await box.deliver(plainMail({ subject: `mail ${i + 1}` })))
    return ids
  }

  /** Counts the calls to Gmail during `work`. */
  async function calls(work: () => Promise<unknown>): Promise<{ total: number; counts: Record<string, number> }> {
    box.google.calls.clear()
    await work()
    return { total: box.google.calls.total(), counts: box.google.calls.counts() }
  }

  it('takes at most 30 calls for a first sync of 1,000 messages, and two for a poll without changes', async () => {
    await deliverAll(1000)
    const mirror = new MailboxMirror(1000)
    const opened = session()
    const first = await calls(() => mirror.sync(opened))
    expect(mirror.rows.size).toBe(1000)
    expect(first.total).toBeLessThanOrEqual(30)
    expect(first.counts).toEqual({
      'GET /gmail/v1/users/{userId}/labels': 1,
      'GET /gmail/v1/users/{userId}/profile': 1,
      'GET /gmail/v1/users/{userId}/messages': 5,
      'POST /batch/gmail/v1': 20,
      'GET /gmail/v1/users/{userId}/history': 1,
    })
    const poll = await calls(() => mirror.sync(opened))
    expect(poll.counts).toEqual({
      'GET /gmail/v1/users/{userId}/labels': 1,
      'GET /gmail/v1/users/{userId}/history': 1,
    })
    await box.deliver(plainMail({ subject: 'one more' }))
    const afterDelivery = await calls(() => mirror.sync(opened))
    expect(afterDelivery.total).toBe(3)
  })

  it('compares ids label by label, without fetching unchanged messages', async () => {
    const ids = await deliverAll(700)
    const mirror = new MailboxMirror(700)
    const opened = session()
    await mirror.sync(opened)
    await box.setRead(ids[3] ?? '', true)
    await box.remove(ids[5] ?? '')
    await box.deliver(plainMail({ subject: 'late' }))
    await box.expireCursors()
    const { counts } = await calls(() => mirror.sync(opened))
    expect(mirror.rows.size).toBe(700)
    // Fetches the new message, and checks that the missing one was deleted.
    expect(counts['POST /batch/gmail/v1']).toBe(2)
    expect(box.google.calls.total({ part: true })).toBe(2)
    expect(counts['GET /gmail/v1/users/{userId}/messages']).toBeLessThan(40)
  })

  it('merges the changes of a message, and fetches no deleted one', async () => {
    const [first = '', second = ''] = await deliverAll(2)
    const mirror = new MailboxMirror()
    const opened = session()
    await mirror.sync(opened)
    for (let times = 0; times < 20; times += 1) await box.setStarred(first, times % 2 === 0)
    await box.setRead(first, true)
    await box.setStarred(second, true)
    await box.remove(second)
    const added = await deliverAll(1)
    await box.remove(added[0] ?? '')
    const { total } = await calls(async () => {
      const steps = await mirror.sync(opened)
      expect(steps).toHaveLength(1)
      expect(steps[0]?.changed).toEqual([
        { providerMessageId: first, unread: false, starred: false, folders: ['INBOX'] },
      ])
    })
    expect(total).toBe(2)
    expect([...mirror.rows.keys()]).toEqual([first])
  })

  it('syncs a long history page by page, with a cursor for each', async () => {
    const mirror = new MailboxMirror()
    const opened = session()
    await mirror.sync(opened)
    await deliverAll(620)
    const steps = await mirror.sync(opened)
    expect(mirror.rows.size).toBe(620)
    expect(Math.max(...steps.map(({ found }) => found.length))).toBeLessThanOrEqual(500)
    expect([...mirror.rows.values()].every(({ announced }) => announced)).toBe(true)
  })

  it('sends only the rate-limited parts of a batch again', async () => {
    await deliverAll(60)
    box.google.fail({ as: 'rate-limited', parts: true, on: /messages/, times: 5, retryAfter: 0 })
    const mirror = new MailboxMirror()
    const { counts } = await calls(() => mirror.sync(session()))
    expect(mirror.rows.size).toBe(60)
    // The newest 50, then five of them again with the rest.
    expect(counts['POST /batch/gmail/v1']).toBe(2)
    expect(box.google.calls.total({ part: true })).toBe(65)
  })

  it.each([
    ['rate-limited-403', { kind: 'rate_limited' }],
    ['daily-limit', { kind: 'rate_limited', retryAfterMs: 3_600_000 }],
    ['missing-scope', { kind: 'rejected', missingScope: true }],
    ['server-error', { kind: 'unavailable' }],
    ['html', { kind: 'unavailable' }],
  ] as const)('maps the error %s, in a batch too', async (as, expected) => {
    await deliverAll(3)
    const ask = () => new MailboxMirror().sync(session())
    box.google.fail({ as, on: /labels/, times: 10, ...(as === 'rate-limited-403' && { retryAfter: 30 }) })
    await expect(ask()).rejects.toMatchObject({ name: 'ProviderError', ...expected })
    box.google.faults.clear()
    await box.mail.closeConnections()
    box.google.fail({ as, parts: true, times: 100, ...(as === 'rate-limited-403' && { retryAfter: 30 }) })
    await expect(ask()).rejects.toMatchObject({ name: 'ProviderError', ...expected })
  })

  it('retries when the token expires inside a batch', async () => {
    await deliverAll(3)
    box.google.fail({ as: 'unauthorized', parts: true, times: 2 })
    const mirror = new MailboxMirror()
    await mirror.sync(session())
    expect(mirror.rows.size).toBe(3)
  })

  /** A message that always fails, whatever is asked of it. */
  const spoil = (id: string, on = '') =>
    box.google.fail({
      as: 'server-error',
      parts: true,
      on: new RegExp(`${id}.*${on}`),
      times: Number.POSITIVE_INFINITY,
    })
  const failedIn = ({ steps }: MailboxMirror) => steps.flatMap(({ failed = [] }) => failed)
  const signal = new AbortController().signal

  it('passes a message that Gmail never returns: in the first sync, the history and a comparison', async () => {
    const [bad = '', other = ''] = await deliverAll(5)
    spoil(bad)
    const mirror = new MailboxMirror()
    const opened = session()
    await mirror.sync(opened)
    expect(mirror.rows.size).toBe(4)
    expect(failedIn(mirror)).toMatchObject([{ providerMessageId: bad, isNew: false }])

    const [arrived = '', next = ''] = await deliverAll(2)
    spoil(arrived)
    await mirror.sync(opened)
    expect(mirror.rows.has(next)).toBe(true)
    expect(failedIn(mirror).at(-1)).toMatchObject({ providerMessageId: arrived, isNew: true })

    await box.expireCursors()
    await box.setRead(other, true)
    const before = failedIn(mirror).length
    await mirror.sync(opened)
    expect(mirror.rows.get(other)?.message.unread).toBe(false)
    expect(
      failedIn(mirror)
        .slice(before)
        .map(({ providerMessageId }) => providerMessageId),
    ).toContain(arrived)
    box.google.faults.clear()
    const again = await opened.readAgain({ ids: [bad, arrived], control: async () => other, signal })
    expect(again.found.map(({ message }) => message.providerMessageId)).toEqual([bad, arrived])
  })

  it.each(['response', 'parts'] as const)(
    'passes a message that makes its entire batch fail (%s), and reads the others of it',
    async (entireBatch) => {
      const [bad = '', ...others] = await deliverAll(8)
      const times = Number.POSITIVE_INFINITY
      box.google.fail({ as: 'server-error', parts: true, entireBatch, on: new RegExp(`messages/${bad}`), times })
      const mirror = new MailboxMirror()
      const opened = session()
      await mirror.sync(opened)
      expect([...mirror.rows.keys()].sort()).toEqual(others.sort())
      expect(failedIn(mirror)).toMatchObject([{ providerMessageId: bad }])
      const ids = [bad, ...others.slice(0, 2)]
      const read = await opened.readAgain({ ids, control: async () => others[3] ?? null, signal })
      expect(read.failed.map(({ providerMessageId }) => providerMessageId)).toEqual([bad])
      expect(read.found).toHaveLength(2)
    },
  )

  it('learns what Gmail still knows of a message whose content it does not return', async () => {
    const [bad = '', other = ''] = await deliverAll(2)
    await box.setStarred(bad, true)
    spoil(bad, 'format=full')
    const read = await session().readAgain({ ids: [bad], control: async () => other, signal })
    expect(read).toMatchObject({ isReading: true, found: [], removed: [] })
    expect(read.failed).toMatchObject([
      {
        providerMessageId: bad,
        starred: true,
        folders: expect.arrayContaining(['INBOX']),
        threadId: expect.anything(),
      },
    ])
    expect(read.failed[0]?.receivedAt).toBeGreaterThan(0)
  })

  it('blames Gmail while it returns no message, not even a control', async () => {
    const [bad = '', other = '', gone = ''] = await deliverAll(3)
    spoil('messages')
    const ask = (control: string | null) => session().readAgain({ ids: [bad], control: async () => control, signal })
    expect(await ask(other)).toMatchObject({ isReading: false })
    box.google.faults.clear()
    spoil(bad)
    await box.remove(gone)
    expect(await ask(gone)).toMatchObject({ isReading: true })
  })

  it('finds older messages and results of a search beside one that fails', async () => {
    const [bad = ''] = await deliverAll(3)
    spoil(bad)
    const page = await box.mail.backfill(box.access).read({
      scope: '*',
      sinceMs: 0,
      beforeMs: Date.now(),
      limit: 10,
      signal,
      findStored: async () => new Map(),
    })
    expect(page.found).toHaveLength(2)
    expect(page.failed).toMatchObject([{ providerMessageId: bad }])
    const found = await box.mail.liveReads(box.access).search({ search: { text: ['mail'] }, limit: 10, signal })
    expect(found.found).toHaveLength(2)
  })

  it('lists again when Gmail no longer accepts a page token', async () => {
    await deliverAll(7)
    await box.mail.closeConnections()
    const history = box.google.historyId(box.user)
    const cursor = JSON.stringify({ history, listing: { page: '!', left: 2 } })
    const mirror = new MailboxMirror(5)
    mirror.cursors.set('*', cursor)
    await mirror.sync(session())
    expect(mirror.subjects()).toEqual(['mail 3', 'mail 4', 'mail 5', 'mail 6', 'mail 7'])
  })
})
