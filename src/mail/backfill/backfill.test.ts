import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Databases, describeOneDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { announced, mailEvents } from '../../../test/kit/mailbox/mailbox-state.ts'
import { type SyncService, syncService } from '../../../test/kit/mailbox/sync.ts'
import { countedLabels, storedCounters } from '../../../test/kit/mailbox/synced-double.ts'
import { connected } from '../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { microsoftMailbox } from '../../../test/servers/microsoft-mailbox.ts'
import type { Db } from '../../platform/db/index.ts'
import type { BackfillView } from './api.ts'
import { changeConfig } from './config.ts'
import type { BackfillAction } from './service.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const MESSAGES = 30
const RANGE_DAYS = 20
const settings = { initialMessages: 5 }
const timing = { pollMs: 400 }

/** A mailbox of 30 messages, one of each day. The newest are stored by the first sync. */
interface Box {
  /** Uses the provider that is tested, unless it is imap. */
  start(open: Databases): Promise<{ db: Db; service: SyncService; accountId: string }>
  deliver(id: number | string, date: Date): Promise<unknown>
  markRead(id: number): Promise<unknown>
}

function buildMail(id: number | string, date: Date): Buffer {
  return plainMail({ subject: `word ${id}`, messageId: `<${id}@x>`, date: date.toUTCString() })
}

const startedAt = Date.now()
/** In the middle of a day of its own, so that no edge of the range is near. */
const mailDate = (index: number) => new Date(Math.floor((startedAt - (MESSAGES - index - 0.5) * DAY_MS) / 1000) * 1000)

const IN_RANGE = Array.from({ length: MESSAGES }, (_, index) => index).filter((index) => index >= MESSAGES - RANGE_DAYS)

async function gmail(): Promise<Box> {
  const box = await gmailMailbox({ unitsPerMinute: 1e9 })
  onTestFinished(() => box.stop())
  const ids = new Map<number | string, string>()
  return {
    async deliver(id, date) {
      ids.set(id, await box.google.deliver(box.user, buildMail(id, date), { date }))
    },
    markRead: async (id) => box.setRead(ids.get(id) ?? '', true),
    start: (open) => started(open, 'gmail', { ...box.mail, ...bound(box) }),
  }
}

async function microsoft(): Promise<Box> {
  const box = await microsoftMailbox()
  onTestFinished(() => box.stop())
  const ids = new Map<number | string, string>()
  return {
    async deliver(id, date) {
      ids.set(id, await box.graph.deliver(box.user, buildMail(id, date), { date }))
    },
    markRead: async (id) => box.setRead(ids.get(id) ?? '', true),
    start: (open) => started(open, 'microsoft', { ...box.mail, ...bound(box) }),
  }
}

type Fixture = Pick<Awaited<ReturnType<typeof gmailMailbox>>, 'mail' | 'access'>

function bound({ mail, access }: Fixture) {
  return {
    openSession: () => mail.openSession(access),
    liveReads: () => mail.liveReads(access),
    backfill: () => mail.backfill(access),
  }
}

async function started(open: Databases, provider: 'gmail' | 'microsoft', mail: Fixture['mail']) {
  const db = await open()
  const service = syncService(db, { mail, settings, timing })
  onTestFinished(() => service.stop())
  const accountId = await service.linkMailbox(provider)
  await service.start()
  await connected(service, accountId)
  return { db, service, accountId }
}

let dovecot: Dovecot
let users = 0

async function imap(): Promise<Box> {
  users += 1
  const user = `backfill${users}`
  await dovecot.addUser(user, 'one')
  return {
    deliver: (id, date) => dovecot.deliver(user, buildMail(id, date), { date }),
    markRead: (id) =>
      dovecot.doveadm('flags', 'add', '-u', user, '\\Seen', 'mailbox', 'INBOX', 'header', 'message-id', `<${id}@x>`),
    async start(open) {
      const db = await open()
      const service = syncService(db, { settings, timing })
      onTestFinished(() => service.stop())
      const accountId = await service.link(dovecot, user, 'one')
      await service.start()
      await connected(service, accountId)
      return { db, service, accountId }
    },
  }
}

async function act({ db, service }: { db: Db; service: SyncService }, action: BackfillAction, accountId: string) {
  return db.transaction(await service.backfill.service.prepare(action, accountId))
}

async function readStatus({ db, service, accountId }: Started): Promise<BackfillView> {
  return service.backfill.service.find(db.read, accountId)
}

type Started = Awaited<ReturnType<Box['start']>>

/** Message-IDs of the messages in lists, each as often as it is stored. */
async function listed(db: Db): Promise<string[]> {
  const rows = await db.read
    .selectFrom('messages')
    .innerJoin('messageLabels', 'messageLabels.messageId', 'messages.id')
    .innerJoin('labels', 'labels.id', 'messageLabels.labelId')
    .select('fields')
    .execute()
  return rows.map((row) => String(JSON.parse(row.fields).messageId)).sort()
}

const messageIds = (indexes: readonly (number | string)[]) => indexes.map((index) => `<${index}@x>`).sort()

describe.skipIf(!dovecotAvailable())('a historical backfill', () => {
  beforeAll(async () => {
    dovecot = await startDovecot()
  })
  afterAll(() => dovecot.stop())

  describeOneDatabase('stores every message of the range once', 'sqlite', (open) => {
    it.each([
      ['gmail', gmail],
      ['microsoft', microsoft],
      ['imap', imap],
    ] as const)('%s', async (_name, make) => {
      const box = await make()
      for (let index = 0; index < MESSAGES; index += 1) await box.deliver(index, mailDate(index))
      const mailbox = await box.start(open)
      const { db, service, accountId } = mailbox
      expect(await listed(db)).toHaveLength(settings.initialMessages)
      await db.transaction((tx) =>
        changeConfig(tx, { timeRangeDays: RANGE_DAYS, batchSize: 4, delayBetweenBatches: 0 }),
      )
      expect(await readStatus(mailbox)).toMatchObject({ status: 'idle', total: null })

      const begun = await act(mailbox, 'start', accountId)
      expect(begun).toMatchObject({ status: 'running', processed: 0, total: null })
      expect(await act(mailbox, 'start', accountId)).toEqual(begun)
      await service.backfill.start()
      await box.deliver('new', new Date())
      await eventually(async () => expect(await readStatus(mailbox)).toMatchObject({ status: 'completed' }))
      const done = await readStatus(mailbox)
      expect(done).toMatchObject({ total: done.processed, secondsLeft: 0, lastError: null })
      expect(done.processed).toBeGreaterThanOrEqual(RANGE_DAYS - settings.initialMessages)
      expect(done.processed).toBeLessThanOrEqual(RANGE_DAYS)
      expect(done.oldestReached).toBe(mailDate(IN_RANGE[0] ?? 0).toISOString())

      await service.synced(accountId)
      await eventually(async () => expect(await listed(db)).toEqual(messageIds([...IN_RANGE, 'new'])))
      await eventually(async () => expect(await announced(db, accountId)).toEqual(messageIds(['new'])))
      expect(await storedCounters(db, accountId)).toEqual(await countedLabels(db, accountId))
      const types = (await mailEvents(db, accountId)).map(({ type }) => type).filter((type) => type.startsWith('sync.'))
      expect(types).toEqual(['sync.backfill_started', 'sync.backfill_completed'])

      // Stored messages are found without the provider, older ones there.
      const search = () => service.reader.list(accountId, { q: 'word', limit: 50 })
      await eventually(async () => expect((await search()).pagination.partial).toBeUndefined())
      const found = await search()
      expect(JSON.parse(`[${found.messages}]`)).toHaveLength(IN_RANGE.length + 1)
      expect(found.pagination.source).toBeUndefined()
      const rest = await service.reader.list(accountId, { q: 'word', limit: 50, cursor: found.pagination.nextCursor })
      expect(JSON.parse(`[${rest.messages}]`)).toHaveLength(MESSAGES - IN_RANGE.length)

      // Sync covers the backfilled messages.
      await box.markRead(IN_RANGE[1] ?? 0)
      await service.synced(accountId)
      await eventually(async () => {
        const updated = await announced(db, accountId, 'message.updated')
        expect(updated).toEqual(messageIds([IN_RANGE[1] ?? 0]))
      })

      await act(mailbox, 'restart', accountId)
      await eventually(async () => expect(await readStatus(mailbox)).toMatchObject({ status: 'completed' }))
      expect(await listed(db)).toEqual(messageIds([...IN_RANGE, 'new']))
    })
  })
})
