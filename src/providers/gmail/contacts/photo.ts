import { type Outbound, OutboundError } from '../../../platform/outbound/index.ts'
import { type ContactPhoto, type ContactPhotoRequest, ProviderError } from '../../contract/index.ts'
import { type RestMailbox, readBytes, single } from '../../shared/rest/index.ts'
import { readPerson } from './client.ts'
import { findPhoto } from './map.ts'

const READING = 'reading the photo of a contact'
/** Where Google keeps photos. They need no token, and must not get one. */
const PHOTO_HOSTS = /^([\w-]+\.)*googleusercontent\.com$/
/** In pixels. The address by itself leads to a thumbnail. */
const SIZE = '512'
const PHOTO_MS = 10_000
const ACCEPT = { accept: 'image/*' }

interface PhotoDeps {
  mailbox: RestMailbox
  outbound: Outbound | undefined
  /** Of the People API, which the operator trusts. */
  origin: string
}

/** The People API names the address of a photo. */
export async function readPhoto(
  { mailbox, outbound, origin }: PhotoDeps,
  { contactId, maxBytes, signal }: Omit<ContactPhotoRequest, 'bookId'>,
): Promise<ContactPhoto | null> {
  const link = findPhoto(await readPerson(mailbox, contactId, { doing: READING, signal }))
  if (link === undefined) return null
  if (!URL.canParse(link)) throw new ProviderError('unavailable', `${READING}: Google returned no address of a photo`)
  const url = new URL(link)
  url.searchParams.set('sz', SIZE)
  try {
    return url.origin === origin
      ? await readOwn(mailbox, url, { maxBytes, signal })
      : await readForeign(outbound, url, { maxBytes, signal })
  } catch (error) {
    // The photo was removed meanwhile.
    if (error instanceof ProviderError && error.kind === 'not_found') return null
    throw error
  }
}

interface PhotoLimits {
  maxBytes: number
  signal: AbortSignal
}

async function readOwn(mailbox: RestMailbox, url: URL, { maxBytes, signal }: PhotoLimits): Promise<ContactPhoto> {
  const request = {
    method: 'GET',
    path: url.href,
    headers: ACCEPT,
    withoutToken: true,
    doing: READING,
    signal,
  } as const
  const { headers, body } = await mailbox.open({ ...request, deadlineMs: PHOTO_MS })
  const bytes = await readBytes(body, { maxBytes, doing: READING })
  return { contentType: single(headers['content-type']) ?? '', bytes }
}

async function readForeign(
  outbound: Outbound | undefined,
  url: URL,
  { maxBytes, signal }: PhotoLimits,
): Promise<ContactPhoto> {
  if (outbound === undefined || url.protocol !== 'https:' || !PHOTO_HOSTS.test(url.hostname)) {
    throw new ProviderError('unavailable', `${READING}: Google returned an address at another host (${url.host})`)
  }
  const request = { method: 'GET' as const, url: url.href, headers: ACCEPT, timeoutMs: PHOTO_MS }
  const response = await outbound.send({ ...request, maxResponseBytes: maxBytes, signal }).catch((error: unknown) => {
    if (!(error instanceof OutboundError)) throw error
    throw new ProviderError('unavailable', `${READING}: ${error.message}`, { cause: error })
  })
  if (response.status === 404) throw new ProviderError('not_found', `${READING}: not found`)
  if (response.status !== 200) throw new ProviderError('unavailable', `${READING}: Google failed (${response.status})`)
  if (response.truncated) {
    throw new ProviderError('limit_exceeded', `${READING}: it has more than ${maxBytes} bytes`)
  }
  return { contentType: single(response.headers['content-type']) ?? '', bytes: response.body }
}
