import { type ContactEdits, type ContactTarget, ProviderError, type RemoteContact } from '../contract/index.ts'
import { isOwnPath, resolvePath, statusError } from '../shared/dav/index.ts'
import { readCard } from './cards.ts'
import type { Book } from './collection.ts'
import { type Card, formatCard, lineNamed, parseCard } from './vcard/card.ts'
import { joinGroup, leaveGroup } from './vcard/groups.ts'
import { type CardObject, isGroup, mapCard, readUid } from './vcard/map.ts'
import { newCard } from './vcard/new-card.ts'
import { applyFields, touch } from './vcard/write.ts'

interface CardEditsDeps {
  getBook(bookId: string, signal: AbortSignal): Promise<Book>
  now(): number
}

const READING = 'reading a contact'
const CREATING = 'creating a contact'
const UPDATING = 'changing a contact'
const DELETING = 'deleting a contact'
/** How often a change is made again because another program changed the contact between reading and writing it. */
const MAX_TRIES = 3
const NO_RESPONSE_BYTES = 64 * 1024

/** Cards are changed in place: whatever this code does not know stays in them. */
export function carddavEdits({ getBook, now }: CardEditsDeps): ContactEdits {
  /** Reads, changes and writes one card. `change` returns false when there is nothing to write. */
  async function edit(
    book: Book,
    path: string,
    { doing, etag }: { doing: string; etag: string | null },
    change: (card: Card) => boolean,
  ): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const object = await getCard(book, path, doing)
      if (etag !== null && object.etag !== etag) throw conflict(doing)
      const card = writableCard(object, doing)
      if (!change(card)) return
      touch(card, now())
      try {
        return await put(book, path, formatCard(card), matching(object.etag), doing)
      } catch (error) {
        const isOutdated = error instanceof ProviderError && error.kind === 'conflict'
        if (!isOutdated || etag !== null || tries >= MAX_TRIES) throw error
      }
    }
  }

  /** Groups are objects beside the contact. One that is gone has no members. */
  async function moveBetweenGroups(
    book: Book,
    uid: string,
    { joinGroups, leaveGroups }: { joinGroups: readonly string[]; leaveGroups: readonly string[] },
    doing: string,
  ): Promise<void> {
    for (const path of joinGroups) {
      await edit(book, ownPath(path, book, doing), { doing, etag: null }, (card) => joinGroup(card, uid))
    }
    for (const path of leaveGroups) {
      await edit(book, ownPath(path, book, doing), { doing, etag: null }, (card) => leaveGroup(card, uid)).catch(
        (error: unknown) => {
          if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
        },
      )
    }
  }

  async function open({ bookId, contactId }: ContactTarget, signal: AbortSignal, doing: string) {
    const book = await getBook(bookId, signal)
    return { book, path: ownPath(contactId, book, doing) }
  }

  return {
    async getContact(target, signal) {
      const { book, path } = await open(target, signal, READING)
      return mapped(await getCard(book, path, READING), READING)
    },

    async createContact({ bookId, key, contact, joinGroups, signal }) {
      const book = await getBook(bookId, signal)
      const path = `${book.url.pathname.replace(/\/?$/, '/')}${encodeURIComponent(key)}.vcf`
      const card = newCard(key, contact, now())
      try {
        await put(book, path, formatCard(card), { 'if-none-match': '*' }, CREATING)
      } catch (error) {
        // An earlier call with this key created it.
        if (!(error instanceof ProviderError) || error.kind !== 'conflict') throw error
      }
      await moveBetweenGroups(book, key, { joinGroups, leaveGroups: [] }, CREATING)
      return mapped(await getCard(book, path, CREATING), CREATING)
    },

    async updateContact({ changes, joinGroups, leaveGroups, etag, signal, ...target }) {
      const { book, path } = await open(target, signal, UPDATING)
      let uid = ''
      await edit(book, path, { doing: UPDATING, etag }, (card) => {
        if (isGroup(card)) throw missing(UPDATING)
        uid = readUid(card)
        if (Object.keys(changes).length === 0) return false
        applyFields(card, changes)
        return true
      })
      await moveBetweenGroups(book, uid, { joinGroups, leaveGroups }, UPDATING)
      return mapped(await getCard(book, path, UPDATING), UPDATING)
    },

    async deleteContact({ etag, signal, ...target }) {
      const { book, path } = await open(target, signal, DELETING)
      const { client, url } = book
      const request = { method: 'DELETE', url: new URL(path, url), headers: matching(etag), signal } as const
      const response = await client.send({ ...request, doing: DELETING, maxBytes: NO_RESPONSE_BYTES })
      if (response.status === 404 || response.status === 410) return
      if (response.status === 412) {
        // Some servers say so of a contact that is gone.
        if ((await readCard(book, path, DELETING)) === undefined) return
        throw conflict(DELETING)
      }
      if (response.status >= 300) throw statusError(response, DELETING, client.errors())
    },
  }
}

/** In its one spelling, without `..` and a query. */
function ownPath(path: string, { url }: Book, doing: string): string {
  if (resolvePath(path, url) !== path || !isOwnPath(path, url)) throw missing(doing)
  return path
}

async function getCard(book: Book, path: string, doing: string): Promise<CardObject> {
  const object = await readCard(book, path, doing)
  if (object === undefined) throw missing(doing)
  return object
}

function mapped(object: CardObject, doing: string): RemoteContact {
  const found = mapCard(object)
  if ('contact' in found) return found.contact
  if ('group' in found) throw missing(doing)
  throw new ProviderError('rejected', `${doing}: the contact cannot be read. ${found.unreadable}`, {
    unsupported: true,
  })
}

/** vCard 2.1 encodes texts in ways that other versions do not know: lines of both cannot be in one card. */
function writableCard(object: CardObject, doing: string): Card {
  const card = parseCard(object.text)
  if ('problem' in card) {
    throw new ProviderError('rejected', `${doing}: the contact cannot be read, so it is not changed`, {
      unsupported: true,
    })
  }
  if (lineNamed(card, ['VERSION'])?.value.trim() === '2.1') {
    const reason = 'the contact is a vCard of version 2.1. Save it again with the program that wrote it'
    throw new ProviderError('rejected', `${doing}: ${reason}`, { unsupported: true })
  }
  return card
}

async function put(
  { client, url, signal }: Book,
  path: string,
  body: string,
  condition: Record<string, string>,
  doing: string,
): Promise<void> {
  const headers = { 'content-type': 'text/vcard; charset=utf-8', ...condition }
  const request = { method: 'PUT', url: new URL(path, url), body, headers, signal } as const
  const response = await client.send({ ...request, doing, maxBytes: NO_RESPONSE_BYTES })
  if (response.status === 412) throw conflict(doing)
  if (response.status >= 300) throw statusError(response, doing, client.errors())
}

function matching(etag: string | null): Record<string, string> {
  return etag === null ? {} : { 'if-match': etag }
}

function missing(doing: string): ProviderError {
  return new ProviderError('not_found', `${doing}: not found`)
}

function conflict(doing: string): ProviderError {
  return new ProviderError('conflict', `${doing}: it was changed meanwhile`)
}
