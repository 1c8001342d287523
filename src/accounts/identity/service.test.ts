import { expect, it } from 'vitest'
import { imapUser, testAccounts } from '../../../test/kit/accounts/accounts.ts'
import { describeEachDatabase } from '../../../test/kit/database/database.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../platform/crypto/seal.ts'
import { AppError } from '../../platform/errors/app-error.ts'

async function readCode(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

describeEachDatabase('accounts', (open) => {
  it('creates an account, its event and its sealed credentials in one transaction', async () => {
    const db = await open()
    const fixture = testAccounts(db)
    const account = await fixture.link({ customUserId: 'user-1' })
    expect(account).toMatchObject({
      email: 'ada@example.com',
      provider: 'imap',
      status: 'connecting',
      statusReason: null,
      paused: false,
      watch: true,
      customUserId: 'user-1',
      lastSyncAt: null,
      tokens: { expiresAt: null, scopes: [], hasRefreshToken: false },
    })
    expect(await fixture.events(account.id)).toEqual([
      {
        type: 'account.connected',
        version: 1,
        data: {
          id: account.id,
          provider: 'imap',
          email: 'ada@example.com',
          customUserId: 'user-1',
          status: 'connecting',
          reason: null,
        },
      },
    ])
    expect(await fixture.accounts.access(account.id)).toMatchObject({
      accountId: account.id,
      secrets: { password: 'first' },
      settings: { imap: { host: 'imap.example.com' } },
      accessVersion: 1,
    })
    const stored = JSON.stringify(await db.read.selectFrom('accounts').selectAll().execute())
    expect(stored).not.toContain('first')
  })

  it('updates the account when the same identity is linked, and creates another for another customUserId', async () => {
    const fixture = testAccounts(await open())
    const first = await fixture.link({ customUserId: 'user-1' })
    const again = await fixture.link({
      customUserId: 'user-1',
      email: 'new@example.com',
      secrets: { password: 'second' },
    })
    expect(again).toMatchObject({ id: first.id, email: 'new@example.com', status: 'connecting' })
    expect(await fixture.accounts.access(first.id)).toMatchObject({ secrets: { password: 'second' }, accessVersion: 2 })
    expect((await fixture.events(first.id)).map((event) => [event.type, event.version])).toEqual([
      ['account.connected', 1],
      ['account.updated', 2],
    ])
    const other = await fixture.link({ customUserId: 'user-2' })
    const nobody = await fixture.link()
    expect(new Set([first.id, other.id, nobody.id]).size).toBe(3)
    expect((await fixture.link({ customUserId: '' })).id).toBe(nobody.id)
  })

  it('creates one account for concurrent links of one identity', async () => {
    const db = await open()
    const fixture = testAccounts(db)
    const linked = await Promise.all(Array.from({ length: 8 }, () => fixture.link()))
    expect(new Set(linked.map((account) => account.id)).size).toBe(1)
    const events = await fixture.events(linked[0]?.id ?? '')
    expect(events.map((event) => event.type).sort()).toEqual(['account.connected', ...Array(7).fill('account.updated')])
    expect(events.map((event) => event.version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('rejects a change that would make two identities equal, also concurrent ones', async () => {
    const db = await open()
    const fixture = testAccounts(db)
    const [one, two, three] = [
      await fixture.link(),
      await fixture.link({ customUserId: 'b' }),
      await fixture.link({ customUserId: 'c' }),
    ]
    const rename = (id: string, customUserId: string | null) =>
      db.transaction((tx) => fixture.accounts.change(tx, id, { customUserId }))
    expect(await readCode(rename(two.id, null))).toBe('conflict')
    expect(await readCode(rename(one.id, 'b'))).toBe('conflict')
    const codes = await Promise.all([two, three].map((account) => readCode(rename(account.id, 'd'))))
    expect(codes.sort()).toEqual(['conflict', undefined])
    expect([two.id, three.id]).toContain((await fixture.link({ customUserId: 'd' })).id)
  })

  it('announces a problem once and its recovery once, whatever the statuses in between', async () => {
    const db = await open()
    const fixture = testAccounts(db)
    const { id } = await fixture.link()
    const set = (
      status: 'connecting' | 'syncing' | 'connected' | 'auth_error' | 'error',
      reason: string | null = null,
    ) => db.transaction((tx) => fixture.accounts.setStatus(tx, id, status, reason))
    await set('connected')
    await set('error', 'no response')
    await set('syncing')
    await set('error', 'no response')
    await set('auth_error', 'wrong password')
    await fixture.link({ secrets: { password: 'second' } })
    await set('syncing')
    await set('connected')
    await set('connected')
    const events = await fixture.events(id)
    expect(events.map((event) => event.type)).toEqual([
      'account.connected',
      'account.sync_stalled',
      'account.auth_error',
      'account.updated',
      'account.recovered',
    ])
    expect(events[2]?.data).toMatchObject({ status: 'auth_error', reason: 'wrong password' })
    expect(await fixture.accounts.get(id)).toMatchObject({ status: 'connected', statusReason: null })
    const versions = events.map((event) => event.version ?? 0)
    expect(versions).toEqual([...versions].sort((a, b) => a - b))
  })

  it('shows a pause as the status, and retries rejected credentials once after resuming', async () => {
    const db = await open()
    const fixture = testAccounts(db)
    const { id } = await fixture.link()
    const change = (changes: { paused?: boolean; watch?: boolean }) =>
      db.transaction((tx) => fixture.accounts.change(tx, id, changes))
    await db.transaction((tx) => fixture.accounts.setStatus(tx, id, 'auth_error', 'wrong password'))
    expect(await change({ paused: true })).toMatchObject({ paused: true, status: 'paused' })
    await change({ paused: true })
    expect(await change({ paused: false, watch: false })).toMatchObject({ status: 'connecting', watch: false })
    expect((await fixture.events(id)).map((event) => event.type)).toEqual([
      'account.connected',
      'account.auth_error',
      'account.paused',
      'account.updated',
      'account.resumed',
    ])
  })

  it('retries rejected credentials once on request, and emits no second event when they are rejected again', async () => {
    const db = await open()
    const fixture = testAccounts(db)
    const { id } = await fixture.link()
    const tryAgain = () => db.transaction((tx) => fixture.accounts.tryAgain(tx, id))
    const refuse = () => db.transaction((tx) => fixture.accounts.setStatus(tx, id, 'auth_error', 'wrong password'))
    expect(await tryAgain()).toMatchObject({ status: 'connecting' })
    await refuse()
    expect(await tryAgain()).toMatchObject({ status: 'connecting', statusReason: null })
    await refuse()
    await db.transaction((tx) => fixture.accounts.change(tx, id, { paused: true }))
    expect(await tryAgain()).toMatchObject({ status: 'paused' })
    expect((await fixture.events(id)).map((event) => event.type)).toEqual([
      'account.connected',
      'account.auth_error',
      'account.paused',
    ])
  })

  it('ignores the rejection of credentials that have been replaced', async () => {
    const db = await open()
    const fixture = testAccounts(db)
    const { id } = await fixture.link()
    const { accessVersion } = await fixture.accounts.access(id)
    await fixture.link({ secrets: { password: 'second' } })
    const refuse = (version: number) =>
      db.transaction((tx) => fixture.accounts.setStatus(tx, id, 'auth_error', 'wrong password', version))
    await refuse(accessVersion)
    expect(await fixture.accounts.get(id)).toMatchObject({ status: 'connecting', statusReason: null })
    await refuse(accessVersion + 1)
    expect(await fixture.accounts.get(id)).toMatchObject({ status: 'auth_error' })
  })

  it('resolves an alias while only one account has it, and prefers ids to aliases', async () => {
    const db = await open()
    const fixture = testAccounts(db)
    const account = await fixture.link({ ...imapUser('one'), customUserId: 'team' })
    expect(await fixture.accounts.resolve(db.read, 'team')).toEqual({ id: account.id, provider: 'imap' })
    const two = await fixture.link({ ...imapUser('two'), customUserId: 'team' })
    await fixture.link({ ...imapUser('three'), customUserId: account.id })
    expect(await fixture.accounts.resolve(db.read, account.id)).toMatchObject({ id: account.id })
    const ambiguous = fixture.accounts.resolve(db.read, 'team')
    await expect(ambiguous).rejects.toMatchObject({ code: 'ambiguous_alias' })
    await expect(ambiguous).rejects.toThrow(`${account.id}, ${two.id}`)
    expect(await readCode(fixture.accounts.resolve(db.read, 'nobody'))).toBe('not_found')
  })

  it('pages through every account once while others are added and removed', async () => {
    const db = await open()
    const fixture = testAccounts(db)
    const ids: string[] = []
    for (let i = 0; i < 10; i += 1) ids.unshift((await fixture.link(imapUser(`user-${i}`))).id)
    const first = await fixture.accounts.list({ limit: 4 })
    expect(first.pagination).toMatchObject({
      page: 1,
      limit: 4,
      total: 10,
      totalPages: 3,
      hasNext: true,
      hasPrev: false,
    })
    await fixture.link(imapUser('late'))
    await db.transaction((tx) => fixture.accounts.remove(tx, ids[3] ?? ''))
    const seen = first.items.map((account) => account.id)
    for (let cursor = first.pagination.nextCursor; cursor !== undefined; ) {
      const { items, pagination } = await fixture.accounts.list({ limit: 4, cursor })
      seen.push(...items.map((account) => account.id))
      cursor = pagination.nextCursor
    }
    expect(seen).toEqual(ids)
    const second = await fixture.accounts.list({ limit: 4, page: 2 })
    expect(second.items).toHaveLength(4)
    await expect(fixture.accounts.list({ cursor: 'nonsense' })).rejects.toMatchObject({ code: 'invalid_cursor' })
  })

  it('deletes an account at once and leaves an event without personal data', async () => {
    const db = await open()
    const erased: string[] = []
    const fixture = testAccounts(db, { onRemove: async (_tx, id) => void erased.push(id) })
    const { id } = await fixture.link({ customUserId: 'user-1' })
    await db.transaction((tx) => fixture.accounts.remove(tx, id))
    expect(erased).toEqual([id])
    expect((await fixture.events(id)).at(-1)).toEqual({
      type: 'account.deleted',
      version: 2,
      data: { id, provider: 'imap', customUserId: 'user-1' },
    })
    expect(await readCode(fixture.accounts.get(id))).toBe('not_found')
    expect(await readCode(fixture.accounts.access(id))).toBe('not_found')
    expect(await readCode(db.transaction((tx) => fixture.accounts.hold(tx, id)))).toBe('not_found')
    expect(await readCode(db.transaction((tx) => fixture.accounts.remove(tx, id)))).toBe('not_found')
    expect((await fixture.link({ customUserId: 'user-1' })).id).not.toBe(id)
  })

  it('seals credentials for their account, with the primary key at every write', async () => {
    const db = await open()
    const [older, newer] = [generateKeyRing('k1'), generateKeyRing('k2')]
    const before = testAccounts(db, { sealer: sealer(parseKeyRing(older)) })
    const account = await before.link(imapUser('one'))
    const two = await before.link(imapUser('two'))
    const after = testAccounts(db, { sealer: sealer(parseKeyRing(`${newer},${older}`)) })
    expect((await after.accounts.access(account.id)).secrets).toEqual({ password: 'first' })
    await after.link(imapUser('one'))
    const rows = await db.read.selectFrom('accounts').select(['id', 'secrets']).orderBy('id').execute()
    expect(rows.map((row) => row.secrets.slice(0, 3))).toEqual(['k2:', 'k1:'])
    const stolen = rows[1]?.secrets ?? ''
    await db.transaction((tx) =>
      tx.updateTable('accounts').set({ secrets: stolen }).where('id', '=', account.id).execute(),
    )
    await expect(after.accounts.access(account.id)).rejects.toThrow('cannot open')
    expect((await after.accounts.access(two.id)).secrets).toEqual({ password: 'first' })
  })
})
