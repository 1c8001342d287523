import type { UnreadableItem } from '../../accounts/collections/index.ts'
import { StaleRead } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { insertManyRows, type Tx } from '../../platform/db/index.ts'
import { cleanJson, cleanText } from '../../platform/formats/text.ts'
import type { Ids } from '../../platform/ids.ts'
import type { ContactStep, ProviderName, RemoteContact } from '../../providers/contract/index.ts'
import { contactView } from '../api.ts'
import { type ContactEventType, contactEvent } from '../events.ts'
import { groupsOfMembers, leaveOwnGroups, memberKey, saveOwnGroups } from '../groups.ts'
import { buildSearchText, emailKey, phoneKey } from '../search-text.ts'
import { buildSortName } from '../sort-name.ts'
import { type BookRow, bookStore, type ContactRow, contactStore, isIndexable } from '../store.ts'
import { unreadableContacts } from '../unreadable.ts'

interface ApplyDeps {
  events: Recorder
  ids: Ids
}

interface ApplyContext {
  book: BookRow
  provider: ProviderName
  nowMs: number
  /** False in a first sync, which announces nothing. */
  isAnnounced: boolean
  /** Who read the contacts: sync, after this change of the API, or the API, which numbered its own change. */
  source: { readAfter: number } | { apiChange: number }
}

export type Changes = Pick<ContactStep, 'found' | 'removed' | 'unreadable'>

export interface ContactCounts {
  added: number
  updated: number
  deleted: number
}

/** `unreadable`: those that were not known. */
export interface Applied extends ContactCounts {
  unreadable: UnreadableItem[]
}

interface Change {
  type: ContactEventType
  row: ContactRow
  content: RemoteContact
}

/**
 * Stores changes of one address book: the rows, what filters compare, the groups that contacts name, and the events, in the caller's
 * transaction. What is stored already is neither written nor announced, so changes may be applied again after a crash. Throws `StaleRead`
 * when sync read something before the API changed it.
 */
export async function applyChanges(
  { events, ids }: ApplyDeps,
  tx: Tx,
  context: ApplyContext,
  { found, removed, unreadable = [] }: Changes,
): Promise<Applied> {
  const { book, provider, nowMs, source } = context
  const scope = { tx, ids, accountId: book.accountId, bookId: book.id, nowMs }
  const store = contactStore(tx, book.id)
  const listed = [...new Map(found.filter(isStorable).map((each) => [each.contactId, each])).values()]
  const rows = await store.byProviderIds([...listed.map(({ contactId }) => contactId), ...removed])
  const inserted: ContactRow[] = []
  const confirmed: string[] = []
  const changes: Change[] = []
  const regrouped: RemoteContact[] = []

  for (const contact of listed) {
    await yieldIfHeld(TURN_MS)
    const row = rows.get(contact.contactId)
    if (row === undefined) {
      ensureNotStale(source, book.apiDeletion)
      const added = newRow(ids('cnt'), contact, context)
      inserted.push(added)
      regrouped.push(contact)
      changes.push({ type: 'contact.created', row: added, content: contact })
    } else if (sameContent(row.content, contact) && !('apiChange' in source)) confirmed.push(row.id)
    else await updateContact(row, contact)
  }

  const deleted = [...new Set(removed)].flatMap((providerId) => rows.get(providerId) ?? [])
  for (const row of deleted) ensureNotStale(source, row.apiChange)
  const before = await groupsOfMembers(tx, deleted.map(toMember))
  await store.remove(deleted.map(({ id }) => id))
  await leaveGroups(deleted.map(({ uid }) => uid))
  for (const row of deleted) {
    const content: RemoteContact = JSON.parse(row.content)
    changes.push({ type: 'contact.deleted', row: { ...row, version: row.version + 1, updatedAt: nowMs }, content })
  }

  await store.confirm(confirmed, book.round)
  await insertManyRows(tx, 'contacts', inserted)
  await insertManyRows(
    tx,
    'contactKeys',
    changes.flatMap(({ type, row, content }) => (type === 'contact.created' ? keysOf(row, content) : [])),
  )
  const known = new Set(regrouped.filter(({ contactId }) => rows.has(contactId)).map(({ uid }) => uid))
  await saveOwnGroups(scope, regrouped, known)
  await bookStore(tx).count(book.id, inserted.length - deleted.length)
  if (context.isAnnounced) await announce()
  const read = [...listed.map(({ contactId }) => contactId), ...removed]
  const notRead = unreadable
    .filter(({ contactId }) => isIndexable(contactId))
    .map(({ contactId, ...contact }) => ({ ...contact, itemId: cleanText(contactId) }))
  await store.keep(
    notRead.map(({ itemId }) => itemId),
    book.round,
  )
  const count = (type: ContactEventType) => changes.filter((change) => change.type === type).length
  return {
    added: count('contact.created'),
    updated: count('contact.updated'),
    deleted: deleted.length,
    unreadable: await unreadableContacts.save(tx, book, { read, unreadable: notRead }, nowMs),
  }

  async function updateContact(row: ContactRow, contact: RemoteContact): Promise<void> {
    const stored: RemoteContact = JSON.parse(row.content)
    const isShown = !sameFields(stored, contact)
    if (isShown) ensureNotStale(source, row.apiChange)
    const updated: ContactRow = {
      ...newRow(row.id, contact, context),
      version: row.version + Number(isShown),
      createdAt: row.createdAt,
      updatedAt: isShown ? nowMs : row.updatedAt,
      apiChange: 'apiChange' in source ? source.apiChange : row.apiChange,
      confirmations: row.confirmations + Number(!isShown),
    }
    await store.update(row.id, updated)
    if (!isShown) return
    await tx.deleteFrom('contactKeys').where('contactId', '=', row.id).execute()
    await insertManyRows(tx, 'contactKeys', keysOf(updated, contact))
    if (stored.uid !== contact.uid) await leaveGroups([stored.uid])
    regrouped.push(contact)
    changes.push({ type: 'contact.updated', row: updated, content: contact })
  }

  /** For UIDs that objects no longer have. One that moved has another object with it, whose groups count. */
  async function leaveGroups(uids: readonly string[]): Promise<void> {
    const others = await store.byUids(uids)
    const kept = new Set(others.map(({ uid }) => uid))
    await leaveOwnGroups(
      scope,
      uids.filter((uid) => !kept.has(uid)),
    )
    const contents = others.map(({ content }): RemoteContact => JSON.parse(content))
    await saveOwnGroups(scope, contents, kept)
  }

  async function announce(): Promise<void> {
    const current = changes.filter(({ type }) => type !== 'contact.deleted').map(({ row }) => toMember(row))
    const groups = await groupsOfMembers(tx, current)
    const announced = changes.map(({ type, row, content }) => {
      const own = (type === 'contact.deleted' ? before : groups).get(memberKey(toMember(row))) ?? []
      return contactEvent(type, provider, contactView({ ...row, content }, provider, own))
    })
    await events.record(tx, announced)
  }
}

/** Throws `StaleRead` when sync read the provider before this change through the API. */
function ensureNotStale(source: ApplyContext['source'], apiChange: number): void {
  if ('readAfter' in source && apiChange > source.readAfter) throw new StaleRead()
}

function isStorable({ contactId, uid }: RemoteContact): boolean {
  return isIndexable(contactId) && isIndexable(uid)
}

export function toMember({ bookId, uid }: Pick<ContactRow, 'bookId' | 'uid'>) {
  return { bookId, uid }
}

function newRow(id: string, contact: RemoteContact, { book, nowMs, source }: ApplyContext): ContactRow {
  return {
    id,
    accountId: book.accountId,
    bookId: book.id,
    providerId: contact.contactId,
    uid: contact.uid,
    sortName: buildSortName(contact),
    searchText: buildSearchText(contact),
    content: cleanJson(contact),
    round: book.round,
    version: 1,
    apiChange: 'apiChange' in source ? source.apiChange : 0,
    confirmations: 0,
    createdAt: nowMs,
    updatedAt: nowMs,
  }
}

function keysOf({ id: contactId, accountId }: ContactRow, contact: RemoteContact) {
  const emails = new Set(contact.emails.map(({ email }) => emailKey(email)))
  const phones = new Set(contact.phoneNumbers.map(({ number }) => phoneKey(number)))
  return [
    ...[...emails].filter(Boolean).map((value) => ({ contactId, kind: 'email' as const, value, accountId })),
    ...[...phones].filter(Boolean).map((value) => ({ contactId, kind: 'phone' as const, value, accountId })),
  ]
}

/** Whether the row holds this contact, in this version. */
export function sameContent(content: string, contact: RemoteContact): boolean {
  return content === cleanJson(contact)
}

/** Whether two versions show the same. A provider may count versions that nobody sees. */
function sameFields(one: RemoteContact, other: RemoteContact): boolean {
  const shown = ({ etag: _etag, updatedAt: _updatedAt, ...rest }: RemoteContact) => JSON.stringify(rest)
  return shown(one) === shown(other)
}
