import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import {
  ProviderError,
  type RemoteContact,
  type RemoteContactGroup,
  type UnreadableContact,
} from '../contract/index.ts'
import {
  Batches,
  type DavResource,
  davParts,
  isGone,
  isOwnPath,
  multigetBody,
  pathReader,
} from '../shared/dav/index.ts'
import type { Book } from './collection.ts'
import { type CardObject, mapCard } from './vcard/map.ts'

/** The contents of some objects of an address book. */
export interface CardBatch {
  contacts: RemoteContact[]
  groups: RemoteContactGroup[]
  /** Objects that are gone. */
  absent: string[]
  unreadable: UnreadableContact[]
}

interface ReadBatch extends CardBatch {
  /** Objects that the server named without saying what they contain, or did not name. */
  unanswered: string[]
}

const DATA = 'CR:address-data'
const MAX_BATCH_BYTES = 8 * 1024 * 1024
/** The server works while a batch is stored. */
const BATCHES_AT_ONCE = 2
const READING = 'reading contacts'
const TOO_LARGE = `The contact is larger than ${MAX_BATCH_BYTES / 1024 / 1024} MB, probably because of its photo.`
const NOT_SENT = 'The CardDAV server lists the contact, and does not send it.'

/**
 * Reads objects in batches, the next one while the caller stores this one. A batch that is too large is halved; a single object that is
 * too large is unreadable. What a response leaves out is asked for again as long as that brings anything, and is unreadable then.
 */
export async function* readCards(book: Book, paths: readonly string[]): AsyncGenerator<CardBatch, void> {
  const batches = new Batches(paths)
  const begun: { batch: readonly string[]; reading: Promise<ReadBatch | undefined> }[] = []
  begin()
  for (let first = begun.shift(); first !== undefined; first = begun.shift()) {
    const { batch, reading } = first
    const read = await reading
    const unanswered = read?.unanswered ?? []
    const isRepeated = unanswered.length < batch.length
    if (read === undefined && batch.length > 1) batches.halve(batch)
    if (read !== undefined && isRepeated) batches.repeat(unanswered, batch)
    begin()
    if (read !== undefined) yield read
    if (read === undefined && batch.length === 1) yield unreadableBatch(batch, TOO_LARGE, false)
    if (read !== undefined && !isRepeated) yield unreadableBatch(unanswered, NOT_SENT, true)
  }

  function begin(): void {
    while (begun.length < BATCHES_AT_ONCE) {
      const batch = batches.next()
      if (batch === undefined) return
      const reading = readBatch(book, batch, batches).catch((error: unknown) => {
        if (!(error instanceof ProviderError) || error.kind !== 'limit_exceeded') throw error
        return undefined
      })
      // The caller may stop before it is awaited.
      reading.catch(() => {})
      begun.push({ batch, reading })
    }
  }
}

function unreadableBatch(paths: readonly string[], reason: string, isRefused: boolean): CardBatch {
  return {
    contacts: [],
    groups: [],
    absent: [],
    unreadable: paths.map((contactId) => ({ contactId, reason, ...(isRefused && { isRefused }) })),
  }
}

async function readBatch(book: Book, paths: readonly string[], batches: Batches): Promise<ReadBatch> {
  const { client, url, signal } = book
  const request = { method: 'REPORT', url, depth: '1', body: cardsBody(paths), signal, doing: READING } as const
  const startedMs = performance.now()
  const { body, url: base } = await client.fetch({ ...request, maxBytes: MAX_BATCH_BYTES })
  batches.record(paths, body.length, performance.now() - startedMs)
  const batch: ReadBatch = { contacts: [], groups: [], absent: [], unreadable: [], unanswered: [] }
  const left = new Set(paths)
  const readPath = pathReader(base)
  for await (const { resources } of davParts(body, READING, signal)) {
    for (const resource of resources) {
      const path = readPath(resource.href)
      if (path === undefined || !left.delete(path) || !isOwnPath(path, url)) continue
      addCard(batch, path, resource)
      await yieldIfHeld(TURN_MS)
    }
  }
  batch.unanswered.push(...left)
  return batch
}

function addCard(batch: ReadBatch, path: string, resource: DavResource): void {
  const object = cardIn(resource, path)
  const status = refusalStatus(resource)
  if (object !== undefined) {
    const mapped = mapCard(object)
    if ('contact' in mapped) batch.contacts.push(mapped.contact)
    else if ('group' in mapped) batch.groups.push(mapped.group)
    else batch.unreadable.push({ contactId: path, reason: mapped.unreadable })
  } else if (status === undefined) batch.unanswered.push(path)
  else if (isGone(status)) batch.absent.push(path)
  else batch.unreadable.push({ contactId: path, reason: `The CardDAV server answered ${status}.`, isRefused: true })
}

function cardIn({ status, properties }: DavResource, path: string): CardObject | undefined {
  const text = properties.get(DATA)?.text
  if (status !== 200 || text === undefined) return undefined
  return { path, text, etag: properties.get('D:getetag')?.text.trim() || null }
}

/** The status with which the server refuses the text of an object. Undefined when it gives none. */
function refusalStatus({ status, refused }: DavResource): number | undefined {
  return status === 200 ? refused.get(DATA) : status
}

function cardsBody(paths: readonly string[]): string {
  return multigetBody('CR:addressbook-multiget', DATA, paths)
}

/** The object at a path, if it exists. Throws `unavailable` when the server does not say that it is gone, and does not send it. */
export async function readCard(
  { client, url, signal }: Book,
  path: string,
  doing: string,
): Promise<CardObject | undefined> {
  const request = { method: 'REPORT', url, depth: '1', body: cardsBody([path]), signal } as const
  const { resources, url: base } = await client.read({ ...request, maxBytes: MAX_BATCH_BYTES, doing })
  const readPath = pathReader(base)
  const resource = resources.find(({ href }) => readPath(href) === path)
  const object = resource && cardIn(resource, path)
  const status = resource && refusalStatus(resource)
  if (object !== undefined || (status !== undefined && isGone(status))) return object
  const reason = status === undefined ? '' : ` (${status})`
  throw new ProviderError('unavailable', `${doing}: the CardDAV server does not send the contact${reason}`)
}
