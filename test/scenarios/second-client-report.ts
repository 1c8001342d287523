/** Reports a failed run of the second client: each message whose events are wrong, and who did what when. */

import type { Databases } from '../kit/database/database.ts'
import { mailEvents } from '../kit/mailbox/mailbox-state.ts'
import { memoryLog } from '../kit/service/memory-log.ts'
import { otherClient } from '../servers/imap-mailbox.ts'
import type { ImapServer } from '../servers/imap-server.ts'

type Db = Awaited<ReturnType<Databases>>

/** Rounds before a failure whose lines are printed. */
const ROUNDS = 2

export type Timeline = ReturnType<typeof openTimeline>

/** Lines with their times: what the scenario did, what the other client printed, and what the service logged. */
export function openTimeline() {
  const { log, entries } = memoryLog()
  let lines: { time: string; text: string }[] = []
  let rounds: string[] = []
  const note = (who: string, text: string) => {
    lines.push({ time: new Date().toISOString(), text: `${who}: ${text}` })
  }
  return {
    /** The logger of the service. */
    log,
    note,
    /** Begins a round, and forgets the old ones. */
    begin(): void {
      rounds = [...rounds, new Date().toISOString()].slice(-ROUNDS)
      const [since = ''] = rounds
      lines = lines.filter(({ time }) => time >= since)
      entries.splice(0, entries.length, ...entries.filter(({ timestamp }) => timestamp >= since))
      note('scenario', 'a round begins')
    },
    print(): string {
      const logged = entries.map(({ timestamp, message, durationMs, metadata, error }) => ({
        time: timestamp,
        text: `service: ${message} ${JSON.stringify({ durationMs, ...metadata, error: error?.message })}`,
      }))
      const all = [...lines, ...logged].sort((one, other) => (one.time < other.time ? -1 : 1))
      return all.map(({ time, text }) => `${time} ${text}`).join('\n')
    },
  }
}

export interface Suspects {
  db: Db
  accountId: string
  server: ImapServer
  user: string
  password: string
  folders: readonly string[]
  messageIds: readonly string[]
}

/** The events, the rows and the server's messages of these Message-IDs. */
export async function describeMessages(suspects: Suspects): Promise<string> {
  const { db, accountId, messageIds } = suspects
  const events = await eventTimes(db, accountId)
  const rows = await storedRows(db, accountId)
  const onServer = await serverHeaders(suspects)
  return messageIds
    .map((messageId) =>
      [
        `${messageId}`,
        ...events.filter((event) => event.messageId === messageId).map(({ text }) => `  event ${text}`),
        ...rows.filter((row) => row.messageId === messageId).map(({ text }) => `  row ${text}`),
        ...onServer.filter((message) => message.messageId === messageId).map(({ text }) => `  on the server ${text}`),
      ].join('\n'),
    )
    .join('\n')
}

interface Described {
  messageId: string
  text: string
}

async function eventTimes(db: Db, accountId: string): Promise<Described[]> {
  const times = await db.read
    .selectFrom('events')
    .select(['type', 'objectId', 'version', 'createdAt'])
    .where('accountId', '=', accountId)
    .execute()
  const events = await mailEvents(db, accountId)
  return events.map(({ type, objectId, version, data }) => {
    const stored = times.find(
      (event) => event.type === type && event.objectId === objectId && event.version === version,
    )
    const time = new Date(stored?.createdAt ?? 0).toISOString()
    return {
      messageId: String(data.messageId),
      text: `${time} ${type} ${objectId} version ${version} in ${data.folder}`,
    }
  })
}

async function storedRows(db: Db, accountId: string): Promise<Described[]> {
  const rows = await db.read
    .selectFrom('messages')
    .leftJoin('labels', 'labels.id', 'messages.folderId')
    .selectAll('messages')
    .select('labels.providerId as folder')
    .where('messages.accountId', '=', accountId)
    .execute()
  return rows.map((row) => {
    const { folder, uidValidity, uid, goneAt, createdAt, receivedAt, sizeBytes, fields, ...others } = row
    const { id, threadId, apiChange, emailIdHash, identityHash, headerHash, traceHash } = others
    const times = [createdAt, receivedAt, goneAt].map((ms) => (ms === null ? null : new Date(ms).toISOString()))
    const [stored, received, gone] = times
    const keys = { threadId, apiChange, emailIdHash, identityHash, headerHash, traceHash }
    return {
      messageId: String(JSON.parse(fields).messageId),
      text: `${id} ${folder} ${uidValidity}.${uid} ${JSON.stringify({ stored, received, gone, sizeBytes, ...keys })}`,
    }
  })
}

async function serverHeaders({ server, user, password, folders }: Suspects): Promise<Described[]> {
  const found: Described[] = []
  const query = { uid: true, flags: true, envelope: true, headers: true, internalDate: true, size: true }
  await otherClient(server, user, password, async (imap) => {
    for (const folder of folders) {
      const { exists, uidValidity } = await imap.mailboxOpen(folder, { readOnly: true })
      const messages = exists === 0 ? [] : await imap.fetchAll('1:*', query)
      for (const { uid, flags, envelope, headers, internalDate, size } of messages) {
        const about = { internalDate, size, flags: [...(flags ?? [])] }
        const lines = String(headers ?? '').replaceAll(/^/gm, '    ')
        found.push({
          messageId: envelope?.messageId ?? '',
          text: `${folder} ${uidValidity}.${uid} ${JSON.stringify(about)}\n${lines}`,
        })
      }
    }
  })
  return found
}
