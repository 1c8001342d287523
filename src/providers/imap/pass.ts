import type { MailboxObject } from 'imapflow'
import type { Caution } from './caution.ts'
import type { ImapClient } from './client.ts'
import type { Cursor } from './cursor.ts'
import { connectionLost } from './errors.ts'

/** A server without mod-sequences tells of nothing that happened while we were away; so often everything is compared. */
export const RECOMPARE_MS = 15 * 60_000

/** Lends the connection with the folder selected; between two loans others may use it, or it listens. */
type Hold = <T>(work: (client: ImapClient, box: MailboxObject) => Promise<T>) => Promise<T>

export interface PassContext {
  hold: Hold
  /** Flags may have changed or messages gone without a trace in the counts. Asked once per pass, and answered with news. */
  suspect(): boolean
  now(): number
  /** Messages of one step: what a transaction stores at once, and what stands in memory. */
  step: number
  caution: Caution
}

/** The state of a pass. */
export interface Pass {
  cursor: Cursor
  /** The next step is the first after the server's numbering began anew. */
  reset: boolean
  total: number
  /** Uids of a first sync still to fetch, ascending; undefined until asked for. */
  older: number[] | undefined
  grew: boolean
  /** New messages of this pass, with the flags they were stored with. */
  added: Map<number, { unread: boolean; starred: boolean }>
}

/** The folder may have been renumbered between two loans of the connection; uids would then mean other messages. */
export function ensureSame(box: MailboxObject, pass: Pass): void {
  if (String(box.uidValidity) !== pass.cursor.uidValidity) {
    throw connectionLost('the folder was renumbered while it was read')
  }
}
