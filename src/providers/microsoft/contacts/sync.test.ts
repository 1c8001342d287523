import { describe, expect, it, onTestFinished } from 'vitest'
import { drainSteps } from '../../../../test/servers/contact-steps.ts'
import { type MicrosoftContactsFixture, microsoftContacts } from '../../../../test/servers/microsoft-contacts.ts'
import { systemClock } from '../../../platform/time/clock.ts'

const { signal } = new AbortController()

const DAY_MS = 86_400_000

async function open(...args: Parameters<typeof microsoftContacts>): Promise<MicrosoftContactsFixture> {
  const fixture = await microsoftContacts(...args)
  onTestFinished(fixture.stop)
  return fixture
}

const sync = (
  { account, bookId }: Pick<MicrosoftContactsFixture, 'account' | 'bookId'>,
  cursor: string | null = null,
) => drainSteps(account.syncContacts({ bookId, cursor, signal }))

describe('sync of Microsoft contacts', () => {
  it('lists the default folder and all below it, and a moved contact as removed in one and found in the other', async () => {
    const fixture = await open()
    const { graph, user, account, bookId } = fixture
    const outer = graph.contacts.addFolder(user, 'Customers')
    const inner = graph.contacts.addFolder(user, 'Sweden', outer)
    for (let at = 0; at < 12; at += 1) graph.contacts.addFolder(user, `F${at}`)
    const books = await account.listBooks(signal)
    expect(books).toHaveLength(15)
    expect(books[0]).toEqual({ bookId, name: 'Contacts', isWritable: true, isDefault: true })
    expect(books.filter(({ isDefault }) => isDefault)).toHaveLength(1)
    expect(books).toContainEqual({ bookId: inner, name: 'Sweden', isWritable: true, isDefault: false })
    const id = graph.contacts.put(user, { displayName: 'Zoë' })
    const [from, to] = [await sync(fixture), await sync({ account, bookId: inner })]
    graph.contacts.move(user, id, inner)
    expect(await sync(fixture, from.cursor)).toMatchObject({ found: [], removed: [id] })
    expect(await sync({ account, bookId: inner }, to.cursor)).toMatchObject({ found: [{ contactId: id }], removed: [] })
  })

  it('reads 450 contacts in three steps, smaller ones where Exchange asks for that, and renews the cursor daily', async () => {
    let nowMs = Date.parse('2026-11-01T00:00:00Z')
    const fixture = await open({ clock: { ...systemClock, now: () => nowMs } })
    const { graph, user } = fixture
    for (let at = 0; at < 450; at += 1) graph.contacts.put(user, { displayName: `Zoë ${at}` })
    const { found, steps, cursor } = await sync(fixture)
    expect([found.length, steps]).toEqual([450, 3])
    graph.limitPages(user, 60)
    expect((await sync(fixture)).found).toHaveLength(450)
    expect(await sync(fixture, cursor)).toMatchObject({ steps: 0 })
    nowMs += 1.1 * DAY_MS
    expect(await sync(fixture, cursor)).toMatchObject({ steps: 1, found: [] })
    expect(graph.peakConcurrency(user)).toBeLessThanOrEqual(4)
  })

  it('waits as Graph asks, sends the token to no other host, and names the scope that is missing', async () => {
    const fixture = await open()
    const { graph, user } = fixture
    graph.contacts.put(user, { displayName: 'Zoë' })
    graph.fail({ as: 'rate-limited', retryAfter: 1, on: /delta/ })
    const beganAt = performance.now()
    const { cursor } = await sync(fixture)
    expect(performance.now() - beganAt).toBeGreaterThan(900)
    graph.fail({ as: 'foreign-link', on: /delta/ })
    await expect(sync(fixture, cursor)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('another host'),
    })
    const without = await open({}, [])
    await expect(without.account.listBooks(signal)).rejects.toMatchObject({
      kind: 'rejected',
      missingScope: true,
      message: expect.stringContaining('Contacts.ReadWrite'),
    })
  })
})
