import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'vitest'
import { changeConfig } from '../../src/mail/backfill/config.ts'
import { sleep } from '../../src/platform/concurrency/abort.ts'
import type { Db } from '../../src/platform/db/index.ts'
import type { Place } from '../kit/database/database.ts'
import { eventually } from '../kit/eventually.ts'
import { fileStore, MailboxDouble } from '../kit/mailbox/double/mailbox-double.ts'
import { announced, mailEvents } from '../kit/mailbox/mailbox-state.ts'
import { type SyncService, syncService } from '../kit/mailbox/sync.ts'
import { countedLabels, PROVIDERS, storedCounters } from '../kit/mailbox/synced-double.ts'
import { mail } from '../kit/mailbox/synced-mailbox.ts'
import { random } from '../kit/random/random.ts'
import { startWorker } from '../kit/workers/start.ts'
import type { Dovecot } from '../servers/dovecot.ts'

const INITIAL = 10
const DAY_MS = 24 * 60 * 60 * 1000
let runs = 0

export interface BackfillCrashes {
  kind: 'whole' | 'folders' | 'imap'
  kills: number
  messages: number
  /** For imap. */
  server?: Dovecot
}

/**
 * Kills a process again and again while it backfills a mailbox in which messages arrive, then lets another one complete it. Every old
 * message must be stored once and never be announced, every new one once, and no batch may be counted twice.
 */
export async function runBackfillCrashes(db: Db, place: Place, plan: BackfillCrashes): Promise<void> {
  const chance = random()
  runs += 1
  const file = join(place.dataDir, `provider-${runs}.json`)
  const mailbox =
    plan.kind === 'imap' ? await onServer(plan, `crashes${process.pid}-${runs}`) : inFile(plan.kind, plan, file)
  const own = () =>
    syncService(db, { ...mailbox.options, settings: { initialMessages: INITIAL }, timing: TIMING, owning: OWNING })
  const first = own()
  const accountId = await mailbox.link(first)
  await first.start()
  await eventually(async () => expect(await first.accounts.get(accountId)).toMatchObject({ status: 'connected' }))
  await db.transaction((tx) => changeConfig(tx, { timeRangeDays: 300, batchSize: 5, delayBetweenBatches: 10 }))
  await db.transaction(await first.backfill.service.prepare('start', accountId))
  await first.stop()
  const initial = (await storedIds(db, accountId)).length

  const arrived: string[] = []
  let processed = 0
  for (let kill = 0; kill < plan.kills; kill += 1) {
    const child = startWorker('backfill-worker', [place.dataDir, place.databaseUrl ?? '', plan.kind, file])
    await once(child.stdout, 'data')
    const id = `new-${kill}`
    await mailbox.deliver(id)
    arrived.push(id)
    await sleep(chance() * 800)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const now = await first.backfill.service.find(db.read, accountId)
    expect(now.processed).toBeGreaterThanOrEqual(processed)
    processed = now.processed
  }

  const last = own()
  try {
    await last.start()
    await last.backfill.start()
    await eventually(async () => {
      expect(await last.backfill.service.find(db.read, accountId)).toMatchObject({ status: 'completed' })
    })
    await last.synced(accountId)
    const ids = [...mailbox.old, ...arrived].map((id) => `<${id}@x>`).sort()
    await eventually(async () => expect(await storedIds(db, accountId)).toEqual(ids))
    await eventually(async () => {
      expect(await announced(db, accountId)).toEqual(arrived.map((id) => `<${id}@x>`).sort())
    })
    expect(await storedCounters(db, accountId)).toEqual(await countedLabels(db, accountId))
    const done = await last.backfill.service.find(db.read, accountId)
    expect(done.processed).toBe(mailbox.old.length - (mailbox.passesStored ? 0 : initial))
    const types = (await mailEvents(db, accountId)).map(({ type }) => type)
    expect(types.filter((type) => type === 'sync.backfill_completed')).toHaveLength(1)
  } finally {
    await last.stop()
  }
}

const OWNING = { roundMs: 100, deadAfterMs: 2000, settleMs: 0 }
const TIMING = { moveGraceMs: 20, pollMs: 500 }

interface CrashedMailbox {
  options: Pick<Parameters<typeof syncService>[1] & object, 'mail'>
  /** Ids of the messages that were there at the first sync. */
  old: string[]
  /** Whether a backfill counts those that the first sync has stored. */
  passesStored: boolean
  link(service: SyncService): Promise<string>
  deliver(id: string): Promise<void>
}

function inFile(kind: 'whole' | 'folders', { messages }: BackfillCrashes, file: string): CrashedMailbox {
  const box = new MailboxDouble(kind, fileStore(file, true))
  const old = Array.from({ length: messages }, (_, n) => `old-${n}`)
  const nowMs = Date.now()
  // One transaction of the double would be slow for each.
  box.deliverAll(old, (n) => ({
    receivedAt: nowMs - Math.round(((messages - n) * 200 * DAY_MS) / messages),
    folders: [n % 3 === 0 ? 'Work' : 'INBOX'],
  }))
  return {
    options: { mail: box.mail },
    old,
    passesStored: false,
    link: (service) => service.linkMailbox(PROVIDERS[kind]),
    deliver: async (id) => box.deliver(id),
  }
}

async function onServer({ server, messages }: BackfillCrashes, user: string): Promise<CrashedMailbox> {
  if (server === undefined) throw new Error('imap needs a server')
  await server.addUser(user, 'one')
  const old = Array.from({ length: messages }, (_, n) => `old-${n}`)
  await server.deliverMany(
    user,
    old.map((id) => mail(id)),
  )
  return {
    options: {},
    old,
    passesStored: true,
    link: (service) => service.link(server, user, 'one'),
    deliver: (id) => server.deliverMany(user, [mail(id)]),
  }
}

/** Message-IDs of the listed messages, each as often as it is stored. */
async function storedIds(db: Db, accountId: string): Promise<string[]> {
  const rows = await db.read
    .selectFrom('messages')
    .innerJoin('messageLabels', 'messageLabels.messageId', 'messages.id')
    .innerJoin('labels', 'labels.id', 'messageLabels.labelId')
    .select('fields')
    .where('messages.accountId', '=', accountId)
    .execute()
  return rows.map((row) => String(JSON.parse(row.fields).messageId)).sort()
}
