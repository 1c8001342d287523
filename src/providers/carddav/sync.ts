import { type ContactStep, ProviderError } from '../contract/index.ts'
import { changePages, type DavState, listAll, readState } from '../shared/dav/index.ts'
import { type CardBatch, readCards } from './cards.ts'
import type { Book } from './collection.ts'

/** `begun`: the first listing was not read to its end. */
type Cursor = DavState | { kind: 'begun' }

const CONTACTS_PER_STEP = 250
const DOING = 'reading changes of an address book'

export async function* syncContacts(
  book: Book,
  { cursor, again }: { cursor: string | null; again: readonly string[] },
): AsyncGenerator<ContactStep, void> {
  if (cursor === null) return yield* readAll(book)
  const position = parsed(cursor)
  if (position.kind === 'begun') throw expired()
  if (again.length > 0) for await (const batch of readCards(book, again)) yield* buildSteps(batch, position)
  if (position.kind === 'sync') return yield* readChanges(book, position.value)
  const state = await readState(book, DOING)
  // Without tokens, a server cannot say what was deleted.
  if (state.kind !== 'state' || state.value !== position.value) throw expired()
}

async function* readAll(book: Book): AsyncGenerator<ContactStep, void> {
  const { paths, state } = await listAll(book, DOING)
  for await (const batch of readCards(book, paths)) yield* buildSteps(batch, { kind: 'begun' })
  yield { found: [], removed: [], cursor: JSON.stringify(state) }
}

async function* readChanges(book: Book, token: string): AsyncGenerator<ContactStep, void> {
  let position: DavState = { kind: 'sync', value: token }
  for await (const { changed, removed, next } of changePages(book, token, DOING)) {
    for await (const batch of readCards(book, changed)) yield* buildSteps(batch, position)
    position = { kind: 'sync', value: next }
    yield { found: [], removed, cursor: JSON.stringify(position) }
  }
}

function* buildSteps(
  { contacts, groups, absent, unreadable }: CardBatch,
  position: Cursor,
): Generator<ContactStep, void> {
  const cursor = JSON.stringify(position)
  for (let at = 0; at + CONTACTS_PER_STEP < contacts.length; at += CONTACTS_PER_STEP) {
    yield { found: contacts.slice(at, at + CONTACTS_PER_STEP), removed: [], cursor }
  }
  const lastAt = Math.max(0, Math.ceil(contacts.length / CONTACTS_PER_STEP) - 1) * CONTACTS_PER_STEP
  yield { found: contacts.slice(lastAt), groups, removed: absent, unreadable, cursor }
}

function parsed(cursor: string): Cursor {
  const { kind, value } = JSON.parse(cursor)
  const isState = (kind === 'sync' || kind === 'state') && typeof value === 'string'
  return isState ? { kind, value } : { kind: 'begun' }
}

function expired(): ProviderError {
  return new ProviderError('cursor_expired', `${DOING}: everything must be read again`)
}
