import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Dns, startDns, type ZoneEntry } from '../../../../test/servers/dns.ts'
import { addressGuard, dnsRecords } from '../../../platform/net/index.ts'
import { type Outbound, outbound } from '../../../platform/outbound/index.ts'
import { fixedClock, systemClock } from '../../../platform/time/clock.ts'
import { parseImapServer } from './autoconfig.ts'
import { type Detection, detection } from './detection.ts'

const mx = (exchange: string, priority = 10) => ({ exchange, priority })
const srv = (name: string, port: number, priority = 0, weight = 0) => ({ name, port, priority, weight })

const ZONE: Record<string, ZoneEntry> = {
  'workspace.de': { mx: [mx('ALT1.aspmx.l.google.com', 20), mx('aspmx.l.google.com', 10)] },
  'new-workspace.de': { mx: [mx('smtp.google.com', 1)] },
  'office.de': { mx: [mx('office-de.mail.protection.outlook.com')] },
  'new-office.de': { mx: [mx('office-de.r-v1.mx.microsoft')] },
  'filtered.de': { mx: [mx('mx.filter.de', 5), mx('aspmx.l.google.com', 50)] },
  'impostor.de': { mx: [mx('mx.notgoogle.com'), mx('google.com.impostor.de')] },
  'nothing.de': {},
  'silent.de': { silent: true },
  '_imaps._tcp.service.de': { srv: [srv('second.service.de', 993, 20), srv('imap.service.de', 994, 10)] },
  '_imap._tcp.service.de': { srv: [srv('plain.service.de', 143)] },
  '_imap._tcp.starttls.de': { srv: [srv('imap.starttls.de', 143)] },
  '_imaps._tcp.none.de': { srv: [srv('', 0)] },
}

const config = (servers: string) =>
  `<?xml version="1.0"?><clientConfig version="1.1"><emailProvider id="x">${servers}</emailProvider></clientConfig>`

const incoming = (host: string, port: number, security: string, more = '<username>%EMAILADDRESS%</username>') =>
  `<incomingServer type="imap"><hostname>${host}</hostname><port>${port}</port><socketType>${security}</socketType>${more}</incomingServer>`

const NESTED = `${'<incomingServer type="imap"><hostname>'.repeat(980)}m.de${'</hostname></incomingServer>'.repeat(980)}`

describe('provider detection', () => {
  let dns: Dns
  let web: Server
  let certificate: string
  /** Body or redirect target, by host and path. */
  const pages = new Map<string, string | { location: string }>()
  let client: Outbound
  beforeAll(async () => {
    const own = await generate([{ name: 'commonName', value: 'config' }], {
      extensions: [
        {
          name: 'subjectAltName',
          altNames: ['autoconfig.config.de', 'config.de', 'elsewhere.de'].map((value) => ({ type: 2, value })),
        },
      ],
    })
    certificate = own.cert
    web = createServer({ key: own.private, cert: own.cert }, (request, response) => {
      const path = `${request.headers.host?.replace(/:\d+$/, '')}${request.url?.replace(/\?.*/, '')}`
      const page = pages.get(path)
      if (page === undefined) response.writeHead(404).end()
      else if (typeof page === 'string') response.writeHead(200, { 'content-type': 'text/xml' }).end(page)
      else response.writeHead(302, page).end()
    })
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
  })
  afterAll(() => {
    web.closeAllConnections()
    web.close()
  })
  beforeEach(async () => {
    dns = await startDns(ZONE)
    pages.clear()
    client = webOnly()
  })
  afterEach(async () => {
    await dns.close()
    await client.close()
  })

  /** The real client, with port 443 mapped to the port of the test server. */
  function webOnly(): Outbound {
    const guard = addressGuard({
      privateTargets: 'loopback',
      clock: systemClock,
      async resolve(host) {
        if (host === 'metadata.de') return { addresses: ['169.254.169.254'], ttlMs: 1000 }
        if (/(^|\.)(config|elsewhere)\.de$/.test(host)) return { addresses: ['127.0.0.1'], ttlMs: 1000 }
        throw new Error(`unknown host ${host}`)
      },
    })
    const real = outbound({ guard, ca: certificate })
    const { port } = web.address() as AddressInfo
    return {
      ...real,
      send: (request) => real.send({ ...request, url: request.url.replace(/^(https:\/\/[^/:]+)\//, `$1:${port}/`) }),
    }
  }

  const detect = (clock = systemClock): Detection =>
    detection({ records: dnsRecords({ timeoutMs: 500, servers: [dns.server] }), outbound: client, clock })

  it.each([
    ['ada@workspace.de', 'gmail'],
    ['ada@new-workspace.de', 'gmail'],
    ['ada@office.de', 'microsoft'],
    ['ada@new-office.de', 'microsoft'],
    ['ada@filtered.de', 'imap'],
    ['ada@impostor.de', 'imap'],
    ['ada@nothing.de', 'imap'],
    ['ada@unknown.de', 'imap'],
    ['ada@silent.de', 'imap'],
  ])('maps %s to %s by its MX records', async (email, provider) => {
    expect(await detect().detectProvider(email)).toBe(provider)
  })

  it('looks up nothing for known and private domains, and caches the others', async () => {
    const clock = fixedClock(1_000_000)
    const detecting = detect(clock)
    expect(await detecting.detectProvider('ada@gmail.com')).toBe('gmail')
    expect(await detecting.detectProvider('ada@gmx.de')).toBe('imap')
    for (const email of ['ada@posthorn.test', 'ada@10.0.0.1', 'ada@localhost', 'ada@b..de', 'ada@example.com', 'x']) {
      expect(await detecting.detectProvider(email)).toBe('imap')
      expect(await detecting.findServer(email)).toBeUndefined()
    }
    expect(dns.asked).toEqual([])
    await Promise.all([detecting.detectProvider('a@workspace.de'), detecting.detectProvider('b@WORKSPACE.de')])
    expect(dns.asked).toEqual(['MX workspace.de'])
    clock.advance(601_000)
    await detecting.detectProvider('a@workspace.de')
    expect(dns.asked).toHaveLength(2)
  })

  it('proposes the server from the SRV records of the domain', async () => {
    expect(await detect().findServer('ada@service.de')).toEqual({ host: 'imap.service.de', port: 994, secure: true })
    expect(await detect().findServer('ada@starttls.de')).toEqual({ host: 'imap.starttls.de', port: 143, secure: false })
    expect(await detect().findServer('ada@none.de')).toBeUndefined()
    expect(await detect().findServer('ada@nothing.de')).toBeUndefined()
  })

  it('proposes the server from the autoconfig document at either URL', async () => {
    pages.set('config.de/.well-known/autoconfig/mail/config-v1.1.xml', config(incoming('mail.config.de', 993, 'SSL')))
    expect(await detect().findServer('ada@config.de')).toEqual({ host: 'mail.config.de', port: 993, secure: true })
    const first = incoming('first.config.de', 143, 'STARTTLS', '<username>%EMAILLOCALPART%</username>')
    pages.set('autoconfig.config.de/mail/config-v1.1.xml', config(first))
    expect(await detect().findServer('ada@config.de')).toEqual({
      host: 'first.config.de',
      port: 143,
      secure: false,
      username: 'ada',
    })
  })

  it('follows five redirects, each over https and to a public address', async () => {
    const at = (step: number) => `config.de/${step}`
    pages.set('autoconfig.config.de/mail/config-v1.1.xml', { location: 'https://elsewhere.de/1' })
    pages.set('elsewhere.de/1', { location: `https://${at(2)}` })
    for (const step of [2, 3, 4]) pages.set(at(step), { location: `/${step + 1}` })
    pages.set(at(5), config(incoming('mail.config.de', 993, 'SSL')))
    expect(await detect().findServer('ada@config.de')).toMatchObject({ host: 'mail.config.de' })
    pages.set(at(5), { location: '/6' })
    pages.set(at(6), config(incoming('mail.config.de', 993, 'SSL')))
    expect(await detect().findServer('ada@config.de')).toBeUndefined()
    for (const location of ['http://config.de/5', 'https://metadata.de/', 'file:///etc/passwd', 'not a url://']) {
      pages.set('autoconfig.config.de/mail/config-v1.1.xml', { location })
      expect(await detect().findServer('ada@config.de')).toBeUndefined()
    }
  })

  it.each([
    ['a document that is not XML', '<html><p>'],
    ['a document that declares entities', `<!DOCTYPE x [<!ENTITY a "b">]>${config(incoming('m.de', 993, 'SSL'))}`],
    ['a server without TLS', config(incoming('m.de', 143, 'plain'))],
    [
      'a server without password sign-in',
      config(incoming('m.de', 993, 'SSL', '<authentication>OAuth2</authentication>')),
    ],
    ['a server without a host', config(incoming('', 993, 'SSL'))],
    ['a host with a port and path', config(incoming('10.0.0.1:80/x', 993, 'SSL'))],
    ['an invalid port', config(incoming('m.de', 99_999, 'SSL'))],
    ['a POP3 server', config(incoming('m.de', 995, 'SSL').replace('imap', 'pop3'))],
    ['a host nested in another element', config(incoming('m.de', 993, 'SSL').replace(/(<host.*name>)/, '<x>$1</x>'))],
    ['servers nested as deeply as a response allows', config(NESTED)],
    ['more than 16 KB', `${config(incoming('m.de', 993, 'SSL'))}${' '.repeat(17_000)}`],
    ['more than 500 elements', config(`${incoming('m.de', 993, 'SSL')}${'<a/>'.repeat(500)}`)],
    [
      'an unfinished document',
      `${config(incoming('m.de', 993, 'SSL'))}${' '.repeat(70_000)}`.replace('</clientConfig>', ''),
    ],
  ])('proposes nothing from %s', async (_title, xml) => {
    expect(await parseImapServer(xml, 'ada@m.de')).toBeUndefined()
  })

  it('prefers implicit TLS, and a server that accepts passwords', async () => {
    const oauth = incoming('oauth.m.de', 993, 'SSL', '<authentication>OAuth2</authentication>')
    const both =
      incoming('later.m.de', 143, 'STARTTLS') +
      incoming('tls.m.de', 993, 'SSL', '<authentication>password-cleartext</authentication>')
    expect(await parseImapServer(config(oauth + both), 'ada@m.de')).toEqual({
      host: 'tls.m.de',
      port: 993,
      secure: true,
    })
  })
})
