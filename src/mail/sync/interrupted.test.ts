import { describe, expect, it } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { databases } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { MailboxDouble } from '../../../test/kit/mailbox/double/mailbox-double.ts'
import { syncService } from '../../../test/kit/mailbox/sync.ts'
import { catalogue } from '../../app/feature-list.ts'
import { recorder } from '../../events/index.ts'
import { memoryBus } from '../../platform/bus/index.ts'
import type { Db } from '../../platform/db/index.ts'
import { idGenerator } from '../../platform/ids.ts'
import { silentLog } from '../../platform/log/index.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { IdMailProvider } from '../../providers/contract/index.ts'
import { labelStore, newLabelRow } from '../labels/index.ts'
import { incomingRow, messageStore } from '../messages/index.ts'
import { newMessageRow } from '../messages/rows/row.ts'
import { messageWriter } from '../messages/rows/writer.ts'
import { deleteFolder, deleteMissing } from './folders/deletion.ts'
import { deleteLabel } from './id-mailbox/deletion.ts'

const open = databases('sqlite')
const MESSAGES = 650
const ids = idGenerator(systemClock)

/** An account with one folder of messages. Its run is aborted after the next transaction. */
async function folderOfMessages(uidValidity: string | null = '7') {
  const db = await open()
  const folder = { path: 'Work', name: 'Work', delimiter: '/', role: null, selectable: true, mailboxId: null }
  const label = newLabelRow(folder, { id: 'lbl_work', accountId: 'acc_1', provider: 'imap', nowMs: 1 })
  const rows = Array.from({ length: MESSAGES }, (_, index) => ({
    ...messageRow(`${index}`, label.id, index + 1),
    uidValidity,
  }))
  await db.transaction((tx) => labelStore(tx).insert([label]))
  for (let at = 0; at < rows.length; at += 100) await write(db, (writer) => writer.insert(rows.slice(at, at + 100)))
  const run = new AbortController()
  const transaction: Db['transaction'] = async (body) => {
    const result = await db.transaction(body)
    run.abort(new Error('this process no longer owns the account'))
    return result
  }
  const bus = memoryBus({ log: silentLog })
  const events = recorder({ catalogue, clock: systemClock, ids, bus })
  const deps = {
    db: { ...db, read: db.read, dialect: db.dialect, transaction },
    events,
    clock: systemClock,
    ids,
    bus,
    fence: async () => {},
    log: silentLog,
  }
  const context = {
    accountId: 'acc_1',
    epoch: 1,
    provider: 'imap' as const,
    syncedAt: () => 0,
    onStored: () => {},
    signal: run.signal,
  }
  const left = async () =>
    (await db.read.selectFrom('messages').select('id').where('goneAt', 'is', null).execute()).length
  const stored = async () => (await db.read.selectFrom('messages').select('id').execute()).length
  return { db, deps: deps as never, context, label, rows, left, stored }
}

function write<T>(db: Db, work: (writer: ReturnType<typeof messageWriter>) => Promise<T>): Promise<T> {
  return db.transaction((tx) => work(messageWriter(tx, { dialect: db.dialect, accountId: 'acc_1', nowMs: 5 })))
}

function messageRow(id: string, labelId: string, uid: number) {
  const message = {
    location: { uidValidity: '7', uid },
    providerMessageId: id,
    isNew: true,
    emailId: null,
    threadId: null,
    messageId: `<${id}@x>`,
    inReplyTo: null,
    references: [],
    subject: id,
    from: null,
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    date: null,
    receivedAt: 1,
    sizeBytes: 1,
    unread: true,
    starred: false,
    snippet: '',
    text: '',
    attachments: [],
    headerHash: id,
    error: null,
  }
  const incoming = incomingRow(message, { accountId: 'acc_1', labelId, nowMs: 1 })
  return newMessageRow(incoming, { accountId: 'acc_1', labelId, id: ids('msg'), nowMs: 1 })
}

describe('a deletion whose run is aborted ends after the running batch', () => {
  it('of a folder', async () => {
    const { deps, context, label, left } = await folderOfMessages()
    await expect(deleteFolder(deps, context, label)).rejects.toThrow('no longer owns')
    expect(await left()).toBe(MESSAGES - 100)
  })

  it('of messages that are missing', async () => {
    const { db, deps, context, rows, stored } = await folderOfMessages()
    for (let at = 0; at < rows.length; at += 100) {
      await write(db, (writer) => writer.markMissing(rows.slice(at, at + 100).map((row) => row.id)))
    }
    await expect(deleteMissing(deps, context, Number.MAX_SAFE_INTEGER)).rejects.toThrow('no longer owns')
    expect(await stored()).toBe(MESSAGES - 200)
  })

  it('of a label', async () => {
    const { db, deps, context, label } = await folderOfMessages(null)
    await expect(deleteLabel(deps, context, label, [label])).rejects.toThrow('no longer owns')
    expect(await messageStore(db.read).count('acc_1', label.id)).toMatchObject({ total: MESSAGES - 100 })
  })
})

it('a listing of the folders ends when the service stops', async () => {
  const box = new MailboxDouble('folders')
  let listings = 0
  let aborted = 0
  const mail: IdMailProvider = {
    ...box.mail,
    openSession: (access) => ({
      ...box.mail.openSession(access),
      listFolders: (signal) => {
        listings += 1
        return new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => {
            aborted += 1
            reject(signal.reason)
          })
        })
      },
    }),
  }
  const service = syncService(await open(), { mail })
  closing({ close: () => service.stop() })
  await service.start()
  await service.linkMailbox('microsoft')
  await eventually(() => expect(listings).toBe(1))
  // Longer than the test may take.
  await service.sync.stop(3_600_000)
  expect(aborted).toBe(1)
})
