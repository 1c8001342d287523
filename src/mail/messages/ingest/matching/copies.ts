import { type Handle, padded } from '../../../../platform/db/index.ts'
import { type IncomingRow, parseFields } from '../../rows/row.ts'
import type { MessageRow } from '../../store.ts'
import { threadsStoring } from '../../threads/references.ts'
import { CANDIDATE_COLUMNS } from './candidates.ts'
import type { Candidate, MatchKeys } from './match.ts'

const THREADS_PER_QUERY = 10
/** A broken program gives many messages one Message-ID. */
const MAX_CANDIDATES = 400

/**
 * Identifies a message by what its sender wrote: Message-ID, Date and Subject. A program that moves a message by copying it may give it another
 * INTERNALDATE, and another header block. Null without a Message-ID.
 */
export function copyKey({ fields, subject }: Pick<MessageRow, 'fields' | 'subject'>): string | null {
  const { messageId, date } = parseFields(fields)
  return messageId === null ? null : JSON.stringify([messageId, date, subject])
}

/**
 * Stored messages that these may be moved copies of, each with its `copyKey`: at most 400 of ten threads. They are in the threads of the messages, or in
 * those that the Message-IDs name.
 */
export async function copyCandidates(
  handle: Handle,
  accountId: string,
  messages: readonly IncomingRow[],
): Promise<Candidate[]> {
  const named = messages.flatMap(({ fields }) => parseFields(fields).messageId ?? [])
  const threads = new Set(await threadsStoring(handle, accountId, named))
  for (const { threadId } of messages) if (threadId !== null) threads.add(threadId)
  const subjects = padded([...new Set(messages.map(({ subject }) => subject))])
  const keys = new Set(messages.map(copyKey))
  // Threads may be of any length. Rows with other fields of delivery are no copies.
  const traces = [...new Set(messages.map(({ traceHash }) => traceHash))].filter((trace) => trace !== null)
  const isTraced = messages.every(({ traceHash }) => traceHash !== null)
  const threadIds = [...threads]
  const candidates: Candidate[] = []
  for (let start = 0; start < threadIds.length; start += THREADS_PER_QUERY) {
    const rows = await handle
      .selectFrom('messages')
      .select([...CANDIDATE_COLUMNS, 'fields', 'subject'])
      .where('threadId', 'in', padded(threadIds.slice(start, start + THREADS_PER_QUERY)))
      .where('subject', 'in', subjects)
      .where('accountId', '=', accountId)
      .where('uidValidity', 'is not', null)
      .$if(isTraced, (query) =>
        query.where((eb) => eb.or([eb('traceHash', 'is', null), eb('traceHash', 'in', padded(traces))])),
      )
      .limit(MAX_CANDIDATES)
      .execute()
    for (const { fields, subject, ...row } of rows) {
      const key = copyKey({ fields, subject })
      if (key !== null && keys.has(key)) candidates.push({ ...row, copyKey: key })
    }
  }
  return candidates
}

/** The columns that matching needs of a message or row. */
export type MatchableRow = MatchKeys & Pick<MessageRow, 'fields' | 'receivedAt'>
