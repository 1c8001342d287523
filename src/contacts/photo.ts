import { readLive } from '../accounts/index.ts'
import { AppError, notFound } from '../platform/errors/app-error.ts'
import type { ContactPhoto } from '../providers/contract/index.ts'
import { type ContactAccessDeps, contactAccess, LIVE_MS } from './read/access.ts'
import { getBook, getContact } from './read/reader.ts'
import { bookStore } from './store.ts'

const MAX_BYTES = 5 * 1024 * 1024

/** The first bytes of the image types that are shown. SVG is not among them: it may contain scripts. */
const IMAGES: readonly (readonly [contentType: string, at: number, bytes: string])[] = [
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
]

interface ShownPhoto {
  contentType: string
  bytes: Buffer
}

/** Reads photos from the provider. Throws `not_found` where there is none, and for bytes that are no image. */
export function contactPhotos(deps: ContactAccessDeps) {
  const { db, accounts } = deps
  const { open } = contactAccess(deps)
  return {
    async read(idOrAlias: string, contactId: string): Promise<ShownPhoto> {
      const { account, provider } = await open(idOrAlias)
      const row = await getContact(db.read, account.id, contactId)
      const book = getBook(await bookStore(db.read).all(account.id), row.bookId)
      const remote = provider.open(await accounts.access(account.id))
      const photo = await readLive('The contact', () =>
        remote.readPhoto({
          bookId: book.providerId,
          contactId: row.providerId,
          maxBytes: MAX_BYTES,
          signal: AbortSignal.timeout(LIVE_MS),
        }),
      )
      if (photo === null) throw notFound('photo of the contact', contactId)
      return toImage(photo)
    },
  }
}

export type ContactPhotos = ReturnType<typeof contactPhotos>

/** By its bytes: what a provider says about them decides nothing. */
function toImage({ bytes }: ContactPhoto): ShownPhoto {
  const image = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const beginning = image.subarray(0, 16).toString('latin1')
  const found = IMAGES.find(([, at, mark]) => beginning.startsWith(mark, at))
  if (found === undefined) {
    throw new AppError('not_found', { message: 'The photo of the contact is not a JPEG, PNG, GIF or WebP image.' })
  }
  return { contentType: found[0], bytes: image }
}
