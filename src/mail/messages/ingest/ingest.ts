/**
 * Stores what a provider returned of one folder or mailbox, in the caller's transaction, which also holds the fence and moves the
 * cursor: rows, labels, counters and lists, bodies to fetch, reports to read, drafts, and the events of all of it.
 *
 *   message ──► columns (`rows/row.ts`) ──► is it stored?
 *                 ├── at its location, or with its id ──► flags and labels are updated
 *                 ├── a draft, as an earlier version ───► rewritten, under its id       `draft-versions.ts`
 *                 ├── elsewhere, and it moved ──────────► relocated, under its id       `matching/`
 *                 ├── the service created it ───────────► inserted, under its own id    `reserved.ts`
 *                 └── no ───────────────────────────────► inserted                      `arrivals.ts`
 *               ──► bodies and reports requested, draft keys stored ──► events and counts recorded   `events-and-counts.ts`
 *
 * `folder.ts` ingests messages that have a UID in a folder (imap), `id-mailbox.ts` messages that have an id in the mailbox (gmail, microsoft).
 * Both serve sync. `older.ts` ingests what backfill has read: it leaves stored messages to sync, and records no events.
 * `copied.ts` and `removal.ts` handle messages that left their folder.
 */
import { moveToCopies } from './copied.ts'
import { ingestFolder } from './folder.ts'
import { ingestMailbox } from './id-mailbox.ts'
import { ingestOlderFolder, ingestOlderMailbox } from './older.ts'
import { clearLocations, deleteMessages, removeFromFolder } from './removal.ts'

export const ingest = {
  /** Stores what sync has read of an imap folder. */
  folder: ingestFolder,
  /** Stores what sync has read of a folder, or of a mailbox, whose messages have ids. */
  mailbox: ingestMailbox,
  /** Stores what backfill has read of an imap folder. */
  olderFolder: ingestOlderFolder,
  /** Stores what backfill has read of messages with ids. */
  olderMailbox: ingestOlderMailbox,

  /** Messages that left their folder: to a copy of them, for good, or because the folder lost them. */
  moveToCopies,
  deleteMessages,
  removeFromFolder,
  clearLocations,
}
