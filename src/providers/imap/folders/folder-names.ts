import { cleanText } from '../../../platform/formats/text.ts'
import { type FolderResponse, FolderResponses, quoted } from './folder-responses.ts'
import { decodeModifiedUtf7, encodeModifiedUtf7 } from './modified-utf7.ts'

/**
 * The folder names of one connection that are not modified UTF-7: "R&D", or raw UTF-8, which servers write although the RFC forbids it.
 * imapflow would cut them or open nothing. It gets the modified UTF-7 of what a user reads instead, and the server gets its own bytes:
 *
 *   server ── * LIST () "/" "R&D" ──► FolderNames ── * LIST () "/" "R&-D" ──► imapflow ──► path "R&D"
 *   server ◄── EXAMINE "R&D" ──────── FolderNames ◄── EXAMINE "R&-D" ──────── imapflow ◄── path "R&D"
 *
 * Names are strings of the bytes on the wire (latin1). All names of a listing are known before the first of them is passed on, so that
 * two that look the same get different paths, whatever their order.
 */
export class FolderNames {
  readonly #usesUtf8: () => boolean
  readonly #responses = new FolderResponses(
    (response) => this.#folder(response),
    () => this.#release(),
  )
  /** By the name that imapflow knows, and the other way round. */
  readonly #ownNames = new Map<string, string>()
  readonly #knownAs = new Map<string, string>()
  /** Names of the current listing that are as they should be, and that another name may look like. */
  readonly #proper = new Set<string>()
  /** Responses from the first unusual name of a listing on. */
  #held: FolderResponse[] = []
  #heldBytes = 0

  /** `usesUtf8`: the names on this connection are UTF-8 (RFC 6855). */
  constructor(usesUtf8: () => boolean) {
    this.#usesUtf8 = usesUtf8
  }

  /** Returns what imapflow may parse of these bytes. */
  pass(bytes: Buffer): Buffer {
    return this.#responses.pass(bytes)
  }

  /** Whether a folder with this name of imapflow may have another name at the server, so that a listing would show it. */
  mayDiffer(name: string): boolean {
    return /[&%\x80-\uffff]/.test(name)
  }

  /** The server's name, when it differs from the one that imapflow knows, or that of the nearest folder above. */
  ownName(name: string, delimiter: string): string | undefined {
    if (this.#ownNames.size === 0 || this.#proper.has(name)) return undefined
    const own = this.#ownNames.get(name)
    if (own !== undefined || delimiter === '') return own
    for (let end = name.lastIndexOf(delimiter); end > 0; end = name.lastIndexOf(delimiter, end - 1)) {
      const parent = this.#ownNames.get(name.slice(0, end))
      if (parent !== undefined) return parent + name.slice(end)
    }
    return undefined
  }

  /** Returns what is passed on now. */
  #folder(response: FolderResponse): Buffer {
    const isProper = this.#isProper(response.name)
    if (isProper && /[&%\x80-\xff]/.test(response.name)) this.#proper.add(this.#toKey(response.name))
    if (isProper && this.#held.length === 0) return response.bytes
    this.#held.push(response)
    this.#heldBytes += response.bytes.length
    return this.#heldBytes > MAX_HELD_BYTES ? this.#release() : NOTHING
  }

  /** The listing is complete. */
  #release(): Buffer {
    const held = this.#held
    if (held.length === 0) {
      if (this.#ownNames.size === 0) this.#proper.clear()
      return NOTHING
    }
    this.#held = []
    this.#heldBytes = 0
    const names = new Set(held.map(({ name }) => name).filter((name) => !this.#isProper(name)))
    for (const name of [...names].sort()) this.#assign(name)
    return Buffer.concat(held.map((response) => this.#rewritten(response)))
  }

  #rewritten({ before, name, after, bytes }: FolderResponse): Buffer {
    const knownName = this.#knownAs.get(name)
    if (knownName === undefined) return bytes
    return Buffer.concat([Buffer.from(before, 'latin1'), quoted(Buffer.from(knownName)), Buffer.from(after, 'latin1')])
  }

  #assign(name: string): void {
    const current = this.#knownAs.get(name)
    if (current !== undefined && !this.#proper.has(current)) return
    if (current !== undefined) this.#ownNames.delete(current)
    const isTaken = (key: string) => this.#proper.has(key) || this.#ownNames.has(key)
    let text = readable(name)
    if (isTaken(this.#encode(text))) text = escaped(name)
    for (let number = 2; isTaken(this.#encode(text)); number += 1) text = `${escaped(name)} (${number})`
    const key = this.#encode(text)
    this.#ownNames.set(key, name)
    this.#knownAs.set(name, key)
  }

  #isProper(name: string): boolean {
    if (!/[&\x00-\x1f\x7f-\xff]/.test(name)) return true
    if (this.#usesUtf8()) return isUtf8(name)
    const text = decodeModifiedUtf7(name)
    return text !== undefined && encodeModifiedUtf7(text) === name
  }

  /** The name of a proper folder as imapflow sends it. */
  #toKey(name: string): string {
    return this.#usesUtf8() ? Buffer.from(name, 'latin1').toString() : name
  }

  #encode(text: string): string {
    return this.#usesUtf8() ? text : encodeModifiedUtf7(text)
  }
}

const NOTHING = Buffer.alloc(0)
/** Limits a listing that is held. More is passed on without waiting for its end. */
const MAX_HELD_BYTES = 32 * 1024

function isUtf8(name: string): boolean {
  return utf8Text(name) !== undefined
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const LATIN1 = new TextDecoder('windows-1252')

function utf8Text(name: string): string | undefined {
  try {
    return UTF8.decode(Buffer.from(name, 'latin1'))
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Decodes a folder name for display. */
function readable(name: string): string {
  const text = decodeModifiedUtf7(name) ?? utf8Text(name) ?? LATIN1.decode(Buffer.from(name, 'latin1'))
  const isShown = text !== '' && !/[\x00-\x1f\x7f]/.test(text) && cleanText(text) === text
  return isShown ? text : escaped(name)
}

/** No two names have the same. */
function escaped(name: string): string {
  const hex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  return name.replace(/[^\x20-\x7e]|[%&]/g, hex)
}
