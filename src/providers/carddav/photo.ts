import { type ContactPhoto, ProviderError } from '../contract/index.ts'
import { resolveUrl, statusError } from '../shared/dav/index.ts'
import { readCard } from './cards.ts'
import type { Book } from './collection.ts'
import { type CardLine, lineNamed, parseCard } from './vcard/card.ts'

const DOING = 'reading the photo of a contact'

/** The photo in the vCard, or at the address that it names: at the user's server with the password, elsewhere without. */
export async function readCardPhoto(
  book: Book,
  path: string,
  { maxBytes, trusts }: { maxBytes: number; trusts(host: string): boolean },
): Promise<ContactPhoto | null> {
  const object = await readCard(book, path, DOING)
  if (object === undefined) throw new ProviderError('not_found', `${DOING}: the contact no longer exists`)
  const card = parseCard(object.text)
  const line = 'problem' in card ? undefined : lineNamed(card, ['PHOTO'])
  if (line === undefined || line.value.trim() === '') return null
  const inline = readInline(line, maxBytes)
  if (inline !== undefined) return inline
  const url = resolveUrlWithQuery(line.value.trim(), book.url)
  if (url === undefined) return null
  const { client, signal } = book
  const isSecure = url.protocol === 'https:' || book.url.protocol === 'http:'
  const isAnonymous = !isSecure || !trusts(url.hostname)
  const request = { method: 'GET', url, signal, isAnonymous, mayLeave: true, maxBytes, doing: DOING } as const
  const response = await client.send(request)
  if (response.truncated) throw tooLarge(maxBytes)
  if (response.status === 404 || response.status === 410) return null
  if (response.status !== 200) throw statusError(response, DOING, client.errors())
  const type = response.headers['content-type']
  return { contentType: typeof type === 'string' ? type : '', bytes: response.body }
}

/** Base64 in the value, as RFC 2426 has it, or a data URL of RFC 6350. Undefined when the value is neither. */
function readInline({ value, parameters }: CardLine, maxBytes: number): ContactPhoto | undefined {
  const [, contentType = '', data] = /^data:([^;,]*)[^,]{0,100};base64,([\s\S]*)$/i.exec(value.trim()) ?? []
  const isEncoded = (parameters.get('ENCODING') ?? []).some((name) => /^(?:b|base64)$/i.test(name))
  const base64 = data ?? (isEncoded ? value : undefined)
  if (base64 === undefined) return undefined
  if (base64.length > Math.ceil(maxBytes / 3) * 4 + 1024) throw tooLarge(maxBytes)
  const bytes = Buffer.from(base64.replaceAll('\\n', ''), 'base64')
  if (bytes.length > maxBytes) throw tooLarge(maxBytes)
  const type = parameters.get('TYPE')?.[0]?.toLowerCase()
  return { contentType: contentType || (type === undefined ? '' : `image/${type}`), bytes }
}

/** The address of a photo may have a query. */
function resolveUrlWithQuery(text: string, base: URL): URL | undefined {
  const url = resolveUrl(text, base)
  if (url === undefined) return undefined
  url.search = new URL(text, base).search
  return url
}

function tooLarge(maxBytes: number): ProviderError {
  return new ProviderError('limit_exceeded', `${DOING}: it is larger than ${Math.floor(maxBytes / 1024)} KB`)
}
