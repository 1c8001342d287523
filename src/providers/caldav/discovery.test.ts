import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { testCaldav } from '../../../test/kit/calendars/caldav.ts'
import {
  type Certificate,
  certificateFor,
  type DavCall,
  type DavReply,
  multistatus,
  startDavServer,
} from '../../../test/servers/dav-server.ts'
import type { MailAccess, MailSettings } from '../contract/index.ts'

const EMAIL = 'ada@example.com'

interface Setup {
  /** Responses by host and request line; a CalDAV server at `caldav.example.com/dav/` is always there. */
  replies?: Record<string, DavReply>
  srv?: { host: string; port: number }[]
  txt?: string[]
  settings?: MailSettings
  password?: string
  accessToken?: string
}

const NAMES = [
  'example.com',
  'caldav.example.com',
  'imap.example.com',
  'elsewhere.example',
  'imap.host.example',
  'dav.host.example',
]
let certificate: Certificate
beforeAll(async () => {
  certificate = await certificateFor(NAMES)
})

/** One server with the names of all hosts. Port 443 is the server's, and a host without a reply has none. */
async function account({ replies = {}, srv = [], txt = [], settings = {}, password = 'secret', accessToken }: Setup) {
  const server = await startDavServer(
    (call) => replies[`${call.host} ${call.line}`] ?? calendarServer(call),
    certificate,
  )
  onTestFinished(() => server.close())
  const asked: string[] = []
  const { provider, close } = testCaldav({
    hosts: { ...Object.fromEntries(NAMES.map((name) => [name, '127.0.0.1'])), 'public.example': '8.8.8.8' },
    port: server.port,
    ca: certificate.cert,
    records: {
      srv: async (name) => {
        asked.push(name)
        return srv
      },
      txt: async () => txt,
    },
  })
  onTestFinished(close)
  const access: MailAccess = {
    accountId: 'acc_1',
    email: EMAIL,
    settings,
    secrets: { password },
    ...(accessToken !== undefined && { accessToken: async () => accessToken }),
  }
  const { signal } = new AbortController()
  const { listCalendars } = provider.open(access)
  return { list: (isKnown?: boolean) => listCalendars(signal, isKnown), calls: server.calls, asked }
}

const CHALLENGE: DavReply = { status: 401, headers: { 'www-authenticate': 'Basic realm="calendars"' } }

/** `/dav/` → `/dav/principal/` → `/dav/home/`, for the right password. */
function calendarServer({ host, line, credentials }: DavCall): DavReply {
  if (!line.includes(' /dav/')) return { status: 404 }
  if (credentials !== `${EMAIL}:secret`) return CHALLENGE
  const href = (name: string, path: string) => `<${name}><D:href>${path}</D:href></${name}>`
  if (line.endsWith('/home/')) {
    return multistatus({
      '/dav/home/': '<D:resourcetype><D:collection/></D:resourcetype>',
      [`/dav/home/${host}/`]: `<D:resourcetype><D:collection/><C:calendar/></D:resourcetype>`,
    })
  }
  if (line.endsWith('/principal/')) return multistatus({ '/dav/principal/': href('C:calendar-home-set', '/dav/home/') })
  return multistatus({ '/dav/': href('D:current-user-principal', '/dav/principal/') })
}

const redirect = (location: string, status = 301): DavReply => ({ status, headers: { location } })

describe('finding the calendars of an address', () => {
  it('uses the SRV record with the path of the TXT record, and sends no password before it is asked for', async () => {
    const { list, calls, asked } = await account({
      srv: [{ host: 'caldav.example.com', port: 443 }],
      txt: ['v=1', 'path=/dav/'],
    })
    const calendars = await list()
    expect(calendars.map(({ calendarId, primary }) => [calendarId, primary])).toEqual([
      ['/dav/home/caldav.example.com/', true],
    ])
    expect(asked).toEqual(['_caldavs._tcp.example.com'])
    expect(calls[0]).toMatchObject({ line: 'PROPFIND /dav/', host: 'caldav.example.com', credentials: undefined })
    // Found once: the next listing asks the home only.
    const before = calls.length
    await list()
    expect(calls.slice(before).map(({ line }) => line)).toEqual(['PROPFIND /dav/home/'])
  })

  it('follows the redirect of /.well-known/caldav to another host of the domain', async () => {
    const { list } = await account({
      replies: { 'example.com PROPFIND /.well-known/caldav': redirect('https://caldav.example.com/dav/') },
    })
    expect(await list()).toMatchObject([{ calendarId: '/dav/home/caldav.example.com/' }])
  })

  it('asks the IMAP server and its siblings when the domain has nothing', async () => {
    const { list } = await account({
      replies: { 'imap.host.example PROPFIND /.well-known/caldav': redirect('https://dav.host.example/dav/', 308) },
      settings: { imap: { ...IMAP, host: 'imap.host.example' } },
    })
    expect(await list()).toMatchObject([{ calendarId: '/dav/home/dav.host.example/' }])
  })

  it.each([
    [
      'a redirect',
      { replies: { 'example.com PROPFIND /.well-known/caldav': redirect('https://elsewhere.example/dav/') } },
    ],
    ['an SRV record', { srv: [{ host: 'elsewhere.example', port: 443 }], txt: ['path=/dav/'] }],
  ])('sends no password to another domain that %s names', async (_name, setup) => {
    const { list, calls } = await account(setup)
    expect(await list()).toEqual([])
    expect(calls.flatMap(({ credentials }) => credentials ?? [])).toEqual([])
  })

  it('sends no password to another domain that an authenticated response names', async () => {
    const principal =
      '<D:current-user-principal><D:href>https://elsewhere.example/dav/principal/</D:href></D:current-user-principal>'
    const { list, calls } = await account({
      replies: { 'caldav.example.com PROPFIND /': multistatus({ '/': principal }) },
      settings: { caldav: { url: 'https://caldav.example.com/' } },
    })
    await expect(list()).rejects.toMatchObject({ kind: 'rejected', message: /elsewhere\.example/ })
    expect(calls.map(({ host }) => host)).toEqual(['caldav.example.com'])
  })

  it.each([
    ['principal', 'D:current-user-principal'],
    ['home', 'C:calendar-home-set'],
  ])('sends no password over plain http where an https server names its %s so', async (_name, property) => {
    const named = `<${property}><D:href>http://caldav.example.com/dav/</D:href></${property}>`
    const { list, calls } = await account({
      replies: { 'caldav.example.com PROPFIND /': multistatus({ '/': named }) },
      settings: { caldav: { url: 'https://caldav.example.com/' } },
    })
    await expect(list()).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('http://caldav.example.com, which does not receive the password'),
    })
    expect(calls.map(({ line }) => line)).toEqual(['PROPFIND /'])
  })

  it.each([
    ['to an address of the cloud', redirect('https://169.254.169.254/latest/')],
    ['to plain http', redirect('http://caldav.example.com/dav/')],
    ['in circles', redirect('https://example.com/.well-known/caldav')],
  ])('does not follow a redirect %s', async (_name, reply) => {
    const { list, calls } = await account({ replies: { 'example.com PROPFIND /.well-known/caldav': reply } })
    expect(await list()).toEqual([])
    expect(calls.length).toBeLessThan(10)
  })

  it('has no calendars where nothing is found, unless calendars are known', async () => {
    const { list } = await account({ srv: [{ host: 'down.example.com', port: 443 }] })
    expect(await list()).toEqual([])
    await expect(list(true)).rejects.toMatchObject({ kind: 'unavailable' })
  })

  it('does not take a refused password of a server that was found for an expired one', async () => {
    const found = { srv: [{ host: 'caldav.example.com', port: 443 }], txt: ['path=/dav/'], password: 'wrong' }
    const { list } = await account(found)
    expect(await list()).toEqual([])
    await expect(list(true)).rejects.toMatchObject({ kind: 'rejected' })
    const { list: listEntered } = await account({
      settings: { caldav: { url: 'https://caldav.example.com/dav/' } },
      password: 'wrong',
    })
    await expect(listEntered()).rejects.toMatchObject({ kind: 'auth_expired' })
  })
})

describe('the CalDAV URL that the user enters', () => {
  const entered = (url: string, replies: Record<string, DavReply> = {}) =>
    account({ replies, settings: { caldav: { url } } })

  it.each([
    'https://caldav.example.com/dav/',
    'https://caldav.example.com/dav/principal/',
    'https://caldav.example.com',
  ])('may be %s', async (url) => {
    const { list } = await entered(url, {
      'caldav.example.com PROPFIND /': { status: 405 },
      'caldav.example.com PROPFIND /.well-known/caldav': redirect('/dav/'),
    })
    expect(await list()).toMatchObject([{ calendarId: '/dav/home/caldav.example.com/' }])
  })

  it('may be a calendar itself', async () => {
    const own = '<D:resourcetype><D:collection/><C:calendar/></D:resourcetype><D:displayname>Mine</D:displayname>'
    const { list } = await entered('https://caldav.example.com/mine/', {
      'caldav.example.com PROPFIND /mine/': multistatus({ '/mine/': own }),
    })
    expect(await list()).toMatchObject([{ calendarId: '/mine/', summary: 'Mine' }])
  })

  it.each([
    ['a web page', { status: 200, body: '<html><body>Sign in</body></html>' }, 'unavailable'],
    ['a failure', { status: 503, headers: { 'retry-after': '120' } }, 'unavailable'],
    ['too many requests', { status: 429, headers: { 'retry-after': '120' } }, 'rate_limited'],
    ['a refusal', { status: 403 }, 'rejected'],
  ])('fails with %s', async (_name, reply, kind) => {
    const { list } = await entered('https://caldav.example.com/broken/', {
      'caldav.example.com PROPFIND /broken/': reply,
    })
    await expect(list()).rejects.toMatchObject({ name: 'ProviderError', kind })
  })

  it.each([
    ['a redirect', redirect('https://imap.example.com/dav/')],
    [
      'a response',
      multistatus({
        '/named/':
          '<D:current-user-principal><D:href>https://imap.example.com/dav/</D:href></D:current-user-principal>',
      }),
    ],
  ])('receives an access token, but no host beside it that %s names', async (_name, reply) => {
    const { list, calls } = await account({
      replies: { 'caldav.example.com PROPFIND /named/': reply },
      settings: { caldav: { url: 'https://caldav.example.com/named/' } },
      accessToken: 'token',
    })
    await expect(list()).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringContaining('https://imap.example.com, which does not receive the access token'),
    })
    expect(new Set(calls.map(({ host }) => host))).toEqual(new Set(['caldav.example.com']))
  })

  it('is not reached over plain http outside of PRIVATE_TARGETS', async () => {
    const { list, calls } = await entered('http://public.example/')
    await expect(list()).rejects.toMatchObject({
      kind: 'rejected',
      message: /PRIVATE_TARGETS|https/,
    })
    expect(calls).toEqual([])
  })
})

const IMAP = {
  host: 'imap.example.com',
  port: 993,
  username: EMAIL,
  security: 'tls',
  allowSelfSigned: false,
  mailbox: 'INBOX',
} as const
