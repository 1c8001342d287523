import type { MailboxObject, StatusObject } from 'imapflow'
import { connectionLost } from '../errors.ts'
import type { Cursor } from './cursor.ts'
import type { FetchGuard } from './fetch-guard.ts'
import type { FolderWork } from './sync-connection.ts'

/** How often to compare everything on a server without mod-sequences, which cannot report changes made while disconnected. */
export const RECOMPARE_MS = 15 * 60_000

export interface PassContext {
  /** Runs work with the folder selected. Between two calls others may use the connection, or it is in IDLE. */
  use: <T>(work: FolderWork<T>) => Promise<T>
  /** The state of a folder that was never synced, at the check that found it: what arrived since is new. */
  firstState: StatusObject | undefined
  /** Since the last pass began, the server reported new messages and nothing else. */
  onlyArrivals: boolean
  /** Whether flags or messages may have changed without a change of the counts. Called once per pass, which resets it. */
  needsComparison(): boolean
  /** Whether the folder may have other messages under the stored UIDs. Called once per pass, which resets it. */
  needsVerification(): boolean
  /** The folder has: the server was restored from a backup, so that other folders may have, too. */
  onRestored(): void
  now(): number
  /** Messages in one step: the size of a transaction and of the memory in use. */
  step: number
  guard: FetchGuard
}

/** The state of one pass over a folder. */
export interface Pass {
  cursor: Cursor
  /** The next step is the first after a UIDVALIDITY change. */
  reset: boolean
  total: number
  /** UIDs that a first sync has still to fetch, ascending; undefined until they are listed, which its first step leaves to the next. */
  older: number[] | undefined
  /** How many messages are older than those that the first sync fetches. */
  below: number
  hasNewMessages: boolean
  /** New messages of this pass, with the flags they were stored with, if these are known. */
  added: Map<number, { unread: boolean; starred: boolean } | undefined>
}

/** Throws when UIDVALIDITY changed between two uses of the connection, because UIDs would then name other messages. */
export function ensureSameFolder(box: MailboxObject, pass: Pass): void {
  if (String(box.uidValidity) !== pass.cursor.uidValidity) {
    throw connectionLost('UIDVALIDITY of the folder changed while it was read')
  }
}
