import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Databases, databases, describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { mailEvents } from '../../../../test/kit/mailbox/mailbox-state.ts'
import { type SyncService, syncService } from '../../../../test/kit/mailbox/sync.ts'
import { syncedDouble } from '../../../../test/kit/mailbox/synced-double.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { gmailMailbox } from '../../../../test/servers/gmail-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { microsoftMailbox } from '../../../../test/servers/microsoft-mailbox.ts'
import type { Db } from '../../../platform/db/index.ts'
import type { Pagination } from '../../../platform/formats/pagination.ts'
import type { IdMailboxFixture } from '../../../providers/conformance/id-mailbox-fixture.ts'
import type { IdLiveReads } from '../../../providers/contract/index.ts'
import { messageStore } from '../store.ts'
import type { MessageListQuery } from './stored-list.ts'

/** Stores the newest six of 16 messages, over imap the newest two of each folder. Every other one has the word, and one old one another. */
const settings = { initialMessages: 6 }
const imapSettings = { initialMessages: 2 }
const WORDS = [14, 12, 10, 8, 6, 4, 2, 0].map((index) => `word ${index}`)

function mailAt(index: number): Buffer {
  const date = new Date(Date.UTC(2026, 0, 1) + index * 1000).toUTCString()
  const subject = `${index === 3 ? 'rare' : index % 2 === 0 ? 'word' : 'other'} ${index}`
  return plainMail({ subject, date, messageId: `<${index}@x>`, text: 'swordless' })
}

interface Opened {
  db: Db
  service: SyncService
  accountId: string
  /** Makes the provider fail from now on. */
  fail?(): void
  /** Makes searches at the provider last for ever from now on. Resolves when one has begun. */
  hang?(): Promise<void>
}

async function idMailbox(open: Databases, provider: 'gmail' | 'microsoft', box: IdMailboxFixture): Promise<Opened> {
  onTestFinished(() => box.stop())
  for (let index = 0; index < 16; index += 1) await box.deliver(mailAt(index))
  const db = await open()
  let hanging: IdLiveReads['search'] | undefined
  const mail = {
    ...box.mail,
    openSession: () => box.mail.openSession(box.access),
    liveReads: () => ({ ...box.mail.liveReads(box.access), ...(hanging && { search: hanging }) }),
  }
  const service = syncService(db, { mail, settings })
  onTestFinished(() => service.stop())
  const accountId = await service.linkMailbox(provider)
  await service.start()
  await connected(service, accountId)
  const hang = () =>
    new Promise<void>((resolve) => {
      hanging = () => {
        resolve()
        return new Promise(() => {})
      }
    })
  return { db, service, accountId, hang, fail: () => box.fail('unavailable', { times: 1000 }) }
}

let dovecot: Dovecot
let users = 0

/** Two folders, with stored and older messages in both. */
async function imapMailbox(open: Databases): Promise<Opened> {
  users += 1
  const user = `older${users}`
  await dovecot.addUser(user, 'one')
  const archived = [8, 6, 3, 0]
  for (const index of [...archived].reverse()) await dovecot.deliver(user, mailAt(index), { folder: 'Archive' })
  for (let index = 0; index < 16; index += 1) {
    if (!archived.includes(index)) await dovecot.deliver(user, mailAt(index))
  }
  const db = await open()
  const service = syncService(db, { settings: imapSettings, timing: { pollMs: 400 } })
  onTestFinished(() => service.stop())
  const accountId = await service.link(dovecot, user, 'one')
  await service.start()
  await connected(service, accountId)
  return { db, service, accountId }
}

async function list({ service, accountId }: Pick<Opened, 'service' | 'accountId'>, query: MessageListQuery) {
  const { messages, pagination } = await service.reader.list(accountId, query)
  const shown: { id: string; subject: string; labelIds: string[] }[] = JSON.parse(`[${messages}]`)
  return { shown, subjects: shown.map(({ subject }) => subject), pagination }
}

/** All pages of a search, and where each came from. */
async function pages(box: Pick<Opened, 'service' | 'accountId'>, query: MessageListQuery) {
  const found: { id: string; subject: string }[] = []
  const sources: (Pagination['source'] | 'stored')[] = []
  for (let cursor: string | undefined; ; ) {
    const { shown, pagination } = await list(box, { ...query, ...(cursor !== undefined && { cursor }) })
    found.push(...shown)
    sources.push(pagination.source ?? 'stored')
    expect(pagination.partial).toBeUndefined()
    cursor = pagination.nextCursor
    expect(pagination.hasNext).toBe(cursor !== undefined)
    if (cursor === undefined) return { found, subjects: found.map(({ subject }) => subject), sources }
    if (sources.length > 20) throw new Error('the pages do not end')
  }
}

async function indexed(box: Pick<Opened, 'service' | 'accountId'>): Promise<void> {
  await eventually(async () => expect((await list(box, { q: 'word' })).pagination.partial).toBeUndefined())
}

const MAILBOXES: Record<string, (open: Databases) => Promise<Opened>> = {
  gmail: async (open) => idMailbox(open, 'gmail', await gmailMailbox({ unitsPerMinute: 1e9 })),
  microsoft: async (open) => idMailbox(open, 'microsoft', await microsoftMailbox()),
  imap: (open) => imapMailbox(open),
}

describe.skipIf(!dovecotAvailable())('a search beyond the stored messages', () => {
  beforeAll(async () => {
    dovecot = await startDovecot()
  })
  afterAll(() => dovecot.stop())

  describeEachDatabase('on one database', (open) => {
    it.each(Object.entries(MAILBOXES))(
      'continues at the provider, and stores what it finds (%s)',
      async (provider, link) => {
        const box = await link(open)
        const { db, service, accountId } = box
        await indexed(box)
        const { found, subjects, sources } = await pages(box, { q: 'WORD', limit: 2 })
        // Over imap the older messages of one folder follow those of the other.
        const older = ['word 12', 'word 10', 'word 4', 'word 2', 'word 0']
        if (provider === 'imap') expect(subjects.slice(3)).toEqual(older)
        else expect(subjects).toEqual(WORDS)
        expect(subjects.toSorted()).toEqual(WORDS.toSorted())
        expect(new Set(found.map(({ id }) => id)).size).toBe(WORDS.length)
        const stored = sources.filter((source) => source === 'stored').length
        expect(sources).toEqual([...Array(stored).fill('stored'), ...Array(sources.length - stored).fill('provider')])
        expect(stored).toBeGreaterThan(0)

        const last = found.at(-1)
        const detail = await service.reader.detail(accountId, last?.id ?? '')
        expect(detail).toMatchObject({ subject: last?.subject, body: { text: expect.stringContaining('swordless') } })
        expect(detail.labelIds).toHaveLength(1)
        // A second search finds the same messages, and lists stay as they are.
        expect((await pages(box, { q: 'word', limit: 50 })).found.map(({ id }) => id).sort()).toEqual(
          found.map(({ id }) => id).sort(),
        )
        const everything = await list(box, {})
        expect(everything.pagination.total).toBe(everything.shown.length)
        expect(everything.subjects).not.toContain('word 0')
        expect((await mailEvents(db, accountId)).filter(({ type }) => type.startsWith('message.'))).toEqual([])

        // The provider at once, because no stored message matches.
        const first = await list(box, { q: 'rare' })
        expect(first.subjects).toEqual(['rare 3'])
        expect(first.pagination).toMatchObject({ total: 0, source: 'provider' })
        expect((await pages(box, { subject: 'rare', from: 'nobody' })).subjects).toEqual([])
        expect((await pages(box, { q: 'rare', unread: false })).subjects).toEqual([])
        expect((await pages(box, { q: 'rare', before: 1000 })).subjects).toEqual([])
        // A part of a word, which IMAP servers find.
        expect((await pages(box, { q: 'wordless' })).subjects).toEqual([])
        expect((await pages(box, { q: '"zz" OR subject:rare' })).subjects).toEqual([])
        expect((await list(box, { q: '!' })).pagination).toMatchObject({ total: 0, hasNext: false })
      },
    )
  })
})

describe('a search beyond the stored messages of a mailbox', () => {
  const open = databases('sqlite')

  it('is partial while the provider fails, its cursor tries again, and a page takes ten seconds at most', async () => {
    const box = await idMailbox(open, 'gmail', await gmailMailbox({ unitsPerMinute: 1e9 }))
    await indexed(box)
    box.fail?.()
    const stored = await list(box, { q: 'word', limit: 50 })
    expect(stored.subjects).toEqual(WORDS.slice(0, 3))
    const { shown, pagination } = await list(box, { q: 'rare' })
    expect(shown).toEqual([])
    expect(pagination).toMatchObject({ total: 0, partial: true, hasNext: true })
    await expect(list(box, { q: 'rare', cursor: pagination.nextCursor })).rejects.toMatchObject({
      code: 'provider_unavailable',
    })
    await expect(list(box, { q: 'word', cursor: pagination.nextCursor })).rejects.toMatchObject({
      code: 'invalid_cursor',
    })

    const begun = box.hang?.()
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const late = expect(list(box, { q: 'rare', cursor: pagination.nextCursor })).rejects.toMatchObject({
      code: 'provider_timeout',
    })
    await begun
    await vi.advanceTimersByTimeAsync(10_000)
    await late
    vi.useRealTimers()
  })

  it('finds what sync does not cover: it changes without events, and a comparison ignores it', async () => {
    const { db, box, service, accountId, sync, emitted } = await syncedDouble('whole', open, {
      settings: { initialMessages: 2 },
      before: (mailbox) =>
        mailbox.deliverAll(['a', 'b', 'c', 'd', 'e'], (n) => ({
          receivedAt: 1_000_000 + n * 1000,
          subject: `word ${n}`,
          folders: n === 0 ? ['Work', 'INBOX'] : ['INBOX'],
        })),
    })
    const at = { service, accountId }
    const search = () => list(at, { q: 'word 0' })
    const labels = await db.read.selectFrom('labels').selectAll().where('accountId', '=', accountId).execute()
    const findId = (path: string) => labels.find(({ providerId }) => providerId === path)?.id
    const [found] = (await search()).shown
    expect(found?.labelIds).toEqual([findId('INBOX'), findId('Work')].sort())
    const row = async () => (await messageStore(db.read).byIds([found?.id ?? '']))[0]

    const before = await emitted()
    box.set('a', { unread: false })
    await sync()
    expect(await row()).toMatchObject({ unread: 0 })
    expect(await emitted()).toEqual(before)
    await service.changer.changeOne(accountId, found?.id ?? '', { labelIds: [findId('Work') ?? ''] })
    expect((await search()).shown).toMatchObject([{ id: found?.id, labelIds: [findId('Work')] }])
    const events = await emitted()
    box.expireCursors()
    await sync()
    expect((await db.read.selectFrom('messages').select('id').execute()).length).toBe(3)
    expect((await list(at, {})).pagination.total).toBe(2)
    box.remove('a')
    await sync()
    expect(await row()).toBeUndefined()
    expect(await emitted()).toEqual(events)
  })

  it('finds messages once that have the same time, arrived with an old time, or outlive newer ones', async () => {
    const { box, service, accountId, sync } = await syncedDouble('whole', open, {
      settings: { initialMessages: 3 },
      before: (mailbox) =>
        mailbox.deliverAll(['a', 'b', 'c', 'd', 'e', 'f'], (n) => ({
          receivedAt: n < 5 ? 1_000_000 : 2_000_000,
          subject: `word ${n}`,
        })),
    })
    box.deliver('imported', { receivedAt: 500_000, subject: 'word imported' })
    await sync()
    const at = { service, accountId }
    const all = async () => {
      const { subjects, sources } = await pages(at, { q: 'word', limit: 2 })
      return { subjects, sources }
    }
    await indexed(at)
    const { subjects, sources } = await all()
    expect(subjects.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 'imported'].map((n) => `word ${n}`))
    expect([subjects[0], subjects.at(-1)]).toEqual(['word 5', 'word imported'])
    expect(sources.slice(0, 3)).toEqual(['stored', 'stored', 'provider'])
    for (const { id } of Object.values(box.state.messages).filter(({ receivedAt }) => receivedAt >= 1_000_000)) {
      if (id !== 'a') box.remove(id)
    }
    await sync()
    expect((await all()).subjects).toEqual(['word 0', 'word imported'])
  })
})
