import { describe, expect, it, onTestFinished } from 'vitest'
import { drainSteps } from '../../../../test/servers/contact-steps.ts'
import { type GoogleContactsFixture, googleContacts } from '../../../../test/servers/google-contacts.ts'
import { systemClock } from '../../../platform/time/clock.ts'

const { signal } = new AbortController()
const BOOK = 'contacts'
const DAY_MS = 86_400_000

async function open(...args: Parameters<typeof googleContacts>): Promise<GoogleContactsFixture> {
  const fixture = await googleContacts(...args)
  onTestFinished(fixture.stop)
  return fixture
}

const sync = ({ account }: Pick<GoogleContactsFixture, 'account'>, cursor: string | null = null) =>
  drainSteps(account.syncContacts({ bookId: BOOK, cursor, signal }))

describe('sync of Google contacts', () => {
  it('reads 600 contacts in three steps, and goes on from any of them', async () => {
    const fixture = await open()
    const { google, user, account } = fixture
    for (let at = 0; at < 600; at += 1) google.people.put(user, { names: [{ givenName: `Zoë ${at}` }] })
    const { found, steps } = await sync(fixture)
    expect([found.length, steps]).toEqual([600, 3])
    const first = (await account.syncContacts({ bookId: BOOK, cursor: null, signal })[Symbol.asyncIterator]().next())
      .value
    const rest = await sync(fixture, first.cursor)
    expect([rest.found.length, rest.steps]).toEqual([350, 2])
    google.people.expireSyncTokens(user)
    // What the first page listed may be deleted since, which only a listing from the beginning finds out.
    await expect(sync(fixture, first.cursor)).rejects.toMatchObject({ kind: 'cursor_expired' })
    expect((await sync(fixture)).found).toHaveLength(600)
  })

  it('asks for a new listing seven days after the last one, and for one page of changes a day until then', async () => {
    let nowMs = Date.parse('2026-11-01T00:00:00Z')
    const fixture = await open({ clock: { ...systemClock, now: () => nowMs } })
    const { google, user } = fixture
    google.people.now = () => nowMs
    google.people.put(user, { names: [{ givenName: 'Zoë' }] })
    const { cursor } = await sync(fixture)
    expect(await sync(fixture, cursor)).toMatchObject({ steps: 0 })
    nowMs += 6.9 * DAY_MS
    const renewed = await sync(fixture, cursor)
    expect(renewed).toMatchObject({ found: [], steps: 1 })
    nowMs += DAY_MS
    await expect(sync(fixture, renewed.cursor)).rejects.toMatchObject({ kind: 'cursor_expired' })
  })

  it('reports late what Google shows late, once, and a contact under its new name', async () => {
    const fixture = await open()
    const { google, user } = fixture
    const id = google.people.put(user, { names: [{ givenName: 'Zoë' }] })
    const { cursor } = await sync(fixture)
    google.people.holdSync(user, true)
    const added = google.people.put(user, { names: [{ givenName: 'Bob' }] })
    expect(await sync(fixture, cursor)).toMatchObject({ steps: 0 })
    google.people.holdSync(user, false)
    const late = await sync(fixture, cursor)
    expect(late.found.map(({ contactId }) => contactId)).toEqual([added])
    google.people.rename(user, id, 'people/117')
    const renamed = await sync(fixture, late.cursor)
    expect(renamed).toMatchObject({ found: [{ contactId: 'people/117' }], removed: [id] })
    expect(await sync(fixture, renamed.cursor)).toMatchObject({ steps: 0 })
  })

  it('waits as Google asks, reports an exceeded quota, and names the scope that is missing', async () => {
    const fixture = await open()
    const { google } = fixture
    google.fail({ as: 'rate-limited', retryAfter: 1, on: /connections/ })
    const beganAt = performance.now()
    await sync(fixture)
    expect(performance.now() - beganAt).toBeGreaterThan(900)
    google.people.limits = { fullSyncs: 0 }
    await expect(sync(fixture)).rejects.toMatchObject({ kind: 'rate_limited' })
    const without = await open({}, [])
    await expect(without.account.listBooks(signal)).rejects.toMatchObject({
      kind: 'rejected',
      missingScope: true,
      message: expect.stringContaining('https://www.googleapis.com/auth/contacts'),
    })
  })
})
