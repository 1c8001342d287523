import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { testCarddav } from '../../../test/kit/contacts/carddav.ts'
import {
  type Certificate,
  certificateFor,
  type DavCall,
  type DavReply,
  multistatus,
  startDavServer,
} from '../../../test/servers/dav-server.ts'
import { vcard } from '../../../test/servers/vcards.ts'
import { JPEG } from '../conformance/contacts.ts'
import type { MailAccess } from '../contract/index.ts'

const [ENTERED, FOUND, HOME, OTHER] = [
  'caldav.example.com',
  'contacts.example.com',
  'p42-contacts.example.com',
  'cdn.elsewhere.example',
]
const BOOK = '/42/home/card/'
const LOGIN = 'ada:secret'
let certificate: Certificate
beforeAll(async () => {
  certificate = await certificateFor([ENTERED, FOUND, HOME, OTHER])
})

interface Setup {
  /** Responses by host and request line. */
  replies?: Record<string, DavReply>
  /** The value of PHOTO in every card, with `PORT` for the port of a server without TLS. */
  photo?: string
  accessToken?: string
  /** The host of the home. */
  home?: string
}

/** One server with the names of all hosts: a calendar server that the user entered, beside it the hosts of contacts, as iCloud has them. */
async function open({ replies = {}, photo, accessToken, home = HOME }: Setup) {
  const respond = (call: DavCall) =>
    replies[`${call.host} ${call.line}`] ?? contactServer(call, home, photo?.replace('PORT', String(plain.port)))
  const plain = await startDavServer(respond)
  const server = await startDavServer(respond, certificate)
  const { provider, close } = testCarddav({
    hosts: {
      ...Object.fromEntries([ENTERED, FOUND, HOME, OTHER].map((name) => [name, '127.0.0.1'])),
      'inside.elsewhere.example': '10.0.0.1',
    },
    port: server.port,
    ca: certificate.cert,
  })
  onTestFinished(async () => {
    await close()
    await Promise.all([server.close(), plain.close()])
  })
  const access: MailAccess = {
    accountId: 'acc_1',
    email: 'ada@example.com',
    settings: { caldav: { url: `https://${ENTERED}/`, username: 'ada' } },
    secrets: { password: 'secret' },
    ...(accessToken !== undefined && { accessToken: async () => accessToken }),
  }
  const { signal } = new AbortController()
  const account = provider.open(access)
  return {
    account,
    signal,
    calls: server.calls,
    edits: provider.edits(access),
    async sync(cursor: string | null = null) {
      const ids: string[] = []
      for await (const { found } of account.syncContacts({ bookId: BOOK, cursor, signal })) {
        ids.push(...found.map(({ contactId }) => contactId))
      }
      return ids
    },
    readPhoto: () => account.readPhoto({ bookId: BOOK, contactId: `${BOOK}1.vcf`, maxBytes: 10_000, signal }),
    /** Host, path and way of signing in of each GET. */
    reads: () =>
      [...server.calls, ...plain.calls]
        .filter(({ line }) => line.startsWith('GET '))
        .map(({ host, line, authorization }) => [host, line.slice(4), authorization?.split(' ')[0]]),
  }
}

/** Hrefs name the host where everything began, not the one of the home. */
function contactServer({ host, line, credentials, body, depth, authorization }: DavCall, home: string, photo?: string) {
  if (credentials !== LOGIN && authorization !== 'Bearer token') {
    return { status: 401, headers: { 'www-authenticate': 'Basic realm="contacts"' } }
  }
  const at = (path: string) => `https://${FOUND}:443${path}`
  const href = (name: string, path: string) => `<${name}><D:href>${path}</D:href></${name}>`
  if (host === ENTERED && home !== ENTERED) return multistatus({ '/': href('D:current-user-principal', '/') })
  if (line === 'PROPFIND /' || line === 'PROPFIND /.well-known/carddav') {
    return multistatus({ '/': href('CR:addressbook-home-set', `https://${home}:443/42/home/`) })
  }
  if (host !== home) return { status: 404 }
  const folder = '<D:resourcetype><D:collection/><CR:addressbook/></D:resourcetype>'
  if (line === 'PROPFIND /42/home/') return multistatus({ [at(BOOK)]: folder })
  const etag = '<D:getetag>"1"</D:getetag>'
  if (line === `PROPFIND ${BOOK}`) return multistatus({ [at(`${BOOK}${depth === '1' ? '1.vcf' : ''}`)]: etag })
  if (line.startsWith('PUT ')) return { status: 204 }
  const lines = photo === undefined ? [] : [`PHOTO;VALUE=uri:${photo}`]
  const card = vcard('1', { displayName: 'Lin' }, lines)
  const path = /<D:href>([^<]+)</.exec(body)?.[1] ?? ''
  return multistatus({ [at(path)]: `${etag}<CR:address-data>${card}</CR:address-data>` })
}

describe('CardDAV servers with a host for each part', () => {
  it('are read and changed where the home is, with hrefs that name another of their hosts', async () => {
    const { account, signal, sync, edits, calls } = await open({})
    expect(await account.listBooks(signal)).toMatchObject([{ bookId: BOOK, name: 'card' }])
    expect(await sync()).toEqual([`${BOOK}1.vcf`])
    const changes = { jobTitle: 'Pilot' }
    const target = { bookId: BOOK, contactId: `${BOOK}1.vcf`, joinGroups: [], leaveGroups: [], etag: null, signal }
    await edits.updateContact({ ...target, changes })
    expect(calls.filter(({ line }) => line.startsWith('PUT'))).toMatchObject([{ host: HOME, credentials: LOGIN }])
    expect([...new Set(calls.map(({ host }) => host))]).toEqual([ENTERED, FOUND, HOME])
  })

  it('get no password at a host of another domain', async () => {
    const { account, signal, calls } = await open({ home: OTHER })
    await expect(account.listBooks(signal)).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining(`https://${OTHER}, which does not receive the password`),
    })
    expect(calls.map(({ host }) => host)).not.toContain(OTHER)
  })
})

describe('a photo with a web address', () => {
  const jpeg: DavReply = { status: 200, headers: { 'content-type': 'image/jpeg' }, body: Buffer.from(JPEG) }
  const moved = (location: string): DavReply => ({ status: 302, headers: { location } })

  it.each<[title: string, setup: Setup, reads: (string | undefined)[][]]>([
    [
      'is read with the password at a host of the user',
      { photo: `https://${FOUND}/p.jpg?size=2`, replies: { [`${FOUND} GET /p.jpg?size=2`]: jpeg } },
      [[FOUND, '/p.jpg?size=2', 'Basic']],
    ],
    [
      'is read without the password elsewhere',
      { photo: `https://${OTHER}/p.jpg`, replies: { [`${OTHER} GET /p.jpg`]: jpeg } },
      [[OTHER, '/p.jpg', undefined]],
    ],
    [
      'is followed elsewhere without the password, and gets none on the way back',
      {
        photo: `https://${HOME}/p.jpg`,
        replies: {
          [`${HOME} GET /p.jpg`]: moved(`https://${OTHER}/signed?key=1`),
          [`${OTHER} GET /signed?key=1`]: moved(`https://${HOME}/back`),
          [`${HOME} GET /back`]: jpeg,
        },
      },
      [
        [HOME, '/p.jpg', 'Basic'],
        [OTHER, '/signed?key=1', undefined],
        [HOME, '/back', undefined],
      ],
    ],
    [
      'gets no password over plain http',
      { photo: `http://${HOME}:PORT/p.jpg`, replies: { [`${HOME} GET /p.jpg`]: jpeg } },
      [[HOME, '/p.jpg', undefined]],
    ],
    [
      'is read with the access token at the host of the server',
      {
        accessToken: 'token',
        home: ENTERED,
        photo: `https://${ENTERED}/p.jpg`,
        replies: { [`${ENTERED} GET /p.jpg`]: jpeg },
      },
      [[ENTERED, '/p.jpg', 'Bearer']],
    ],
    [
      'is read without the access token at any other host',
      {
        accessToken: 'token',
        home: ENTERED,
        photo: `https://${FOUND}/p.jpg`,
        replies: { [`${FOUND} GET /p.jpg`]: jpeg },
      },
      [[FOUND, '/p.jpg', undefined]],
    ],
  ])('%s', async (_title, setup, reads) => {
    const opened = await open(setup)
    const photo = await opened.readPhoto()
    expect(Buffer.from(photo?.bytes ?? []).equals(Buffer.from(JPEG))).toBe(true)
    expect(opened.reads()).toEqual(reads)
  })

  it.each([
    ['of a private network', 'https://inside.elsewhere.example/p.jpg', {}, 'rejected'],
    ['of the cloud', 'http://169.254.169.254/latest', {}, 'rejected'],
    ['behind a redirect into a private network', `https://${OTHER}/p.jpg`, moved('https://10.0.0.1/'), 'rejected'],
    ['that is too large', `https://${OTHER}/p.jpg`, { status: 200, endless: 'x'.repeat(1000) }, 'limit_exceeded'],
    ['that fails', `https://${OTHER}/p.jpg`, { status: 500 }, 'unavailable'],
    ['that redirects in circles', `https://${OTHER}/p.jpg`, moved(`https://${OTHER}/p.jpg`), 'unavailable'],
  ])('is an error %s', async (_title, photo, reply: DavReply, kind) => {
    const opened = await open({ photo, replies: { [`${OTHER} GET /p.jpg`]: reply } })
    await expect(opened.readPhoto()).rejects.toMatchObject({ name: 'ProviderError', kind })
  })

  it.each([
    ['that no longer exists', `https://${OTHER}/p.jpg`],
    ['of a program', 'cid:1'],
    ['with a password in it', `https://a:b@${OTHER}/p.jpg`],
  ])('is none %s', async (_title, photo) => {
    const opened = await open({ photo, replies: { [`${OTHER} GET /p.jpg`]: { status: 404 } } })
    expect(await opened.readPhoto()).toBeNull()
  })
})
