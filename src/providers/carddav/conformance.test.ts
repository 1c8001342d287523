import { randomUUID } from 'node:crypto'
import { afterAll, describe } from 'vitest'
import { caldavAccess } from '../../../test/kit/calendars/caldav.ts'
import { testCarddav } from '../../../test/kit/contacts/carddav.ts'
import { type Radicale, radicaleAvailable, startRadicale } from '../../../test/servers/radicale.ts'
import { vcard } from '../../../test/servers/vcards.ts'
import { startXandikos, type Xandikos, xandikosAvailable } from '../../../test/servers/xandikos.ts'
import { type ContactsFixture, contactsConformance } from '../conformance/contacts.ts'
import type { ContactFields } from '../contract/index.ts'

/** An address book of a server, and the requests of another program. */
interface Written extends Pick<ContactsFixture, 'bookId' | 'expireCursors' | 'refuse'> {
  url: string
  user: string
  request(method: string, path: string, body?: string): Promise<unknown>
}

/** The user's password is `secret`. */
function openFixture({ url, user, request, bookId, ...rest }: Written): ContactsFixture {
  const { provider, close } = testCarddav()
  const stored = new Map<string, { fields: Partial<ContactFields>; photo?: Uint8Array }>()
  const put = async (path: string) => {
    const { fields = {}, photo } = stored.get(path) ?? {}
    const uid = path.split('/').at(-1)?.replace('.vcf', '') ?? ''
    const encoded = photo && `PHOTO;ENCODING=b;TYPE=JPEG:${Buffer.from(photo).toString('base64')}`
    await request('PUT', path, vcard(uid, fields, encoded === undefined ? [] : [encoded]))
  }
  return {
    ...rest,
    provider,
    bookId,
    lacks: [],
    stop: close,
    access: caldavAccess(url, user, 'secret'),
    async write(fields, path = `${bookId}${randomUUID()}.vcf`) {
      stored.set(path, { ...stored.get(path), fields })
      await put(path)
      return path
    },
    async remove(path) {
      await request('DELETE', path)
    },
    async setPhoto(path, photo) {
      stored.set(path, { fields: {}, ...stored.get(path), photo })
      await put(path)
    },
  }
}

describe.skipIf(!radicaleAvailable())('CardDAV', () => {
  let server: Promise<Radicale> | undefined
  afterAll(async () => (await server)?.stop())

  contactsConformance('CardDAV on Radicale', async () => {
    server ??= startRadicale()
    const radicale = await server
    const user = `${randomUUID()}@example.com`
    await radicale.addUser(user, 'secret')
    const bookId = await radicale.makeBook(user, 'people')
    return openFixture({
      url: radicale.url,
      user,
      bookId,
      request: (method, path, body) => radicale.request(user, method, path, body),
      expireCursors: () => radicale.forgetSyncTokens(bookId),
      refuse: () => radicale.removeUser(user),
    })
  })
})

describe.skipIf(!xandikosAvailable())('CardDAV', () => {
  let server: Promise<Xandikos> | undefined
  afterAll(async () => (await server)?.stop())

  contactsConformance('CardDAV on Xandikos', async () => {
    server ??= startXandikos()
    const xandikos = await server
    const logins = new Map([['ann', 'secret']])
    xandikos.proxy.requireLogin(logins)
    const bookId = await xandikos.makeBook(`people-${randomUUID()}`)
    return openFixture({
      url: xandikos.url,
      user: 'ann',
      bookId,
      request: xandikos.request,
      expireCursors: () => xandikos.forgetSyncTokens(bookId),
      async refuse() {
        logins.clear()
      },
    })
  })
})
