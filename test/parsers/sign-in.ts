import { detection } from '../../src/accounts/auth/detection/detection.ts'
import { formValues } from '../../src/accounts/auth/imap/form.ts'
import { passwordTokens } from '../../src/accounts/auth/imap/password-token.ts'
import { parseProposal } from '../../src/accounts/auth/imap/proposal.ts'
import { parseImapConnection } from '../../src/accounts/connecting/imap-connection.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../src/platform/crypto/seal.ts'
import { silentLog } from '../../src/platform/log/index.ts'
import { dnsRecords } from '../../src/platform/net/index.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { CALDAV } from '../../src/providers/caldav/home.ts'
import { gmailLogin } from '../../src/providers/gmail/login.ts'
import { candidates } from '../../src/providers/shared/dav/discovery.ts'
import { IMAP_FORM_FIELDS } from '../../src/ui/hosted/index.ts'
import { prefilled } from '../../src/ui/widget/fields.ts'
import { startDns, type ZoneEntry } from '../servers/dns.ts'
import { OAUTH_CLIENT } from '../servers/oauth-server.ts'
import { startScripted } from '../servers/scripted-http.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'
import { filled, type Shape } from './mime.ts'
import { JSON_TEXTS } from './providers.ts'
import { TEXTS } from './texts.ts'

const KB = 1024

/** Bodies from the sign-in service for the token, the userinfo, and the address of the probe. */
const TOKEN_BODIES: Shape[] = [
  ...JSON_TEXTS,
  ['scopes', filled('{"access_token":"a","token_type":"bearer","scope":"', 'a ', '"}')],
  ['the same scope', filled('{"access_token":"a","token_type":"bearer","scope":"', 'openid ', '"}')],
  ['spaces between scopes', filled('{"access_token":"a","token_type":"bearer","scope":"', ' ', '"}')],
  ['dots of an ID token', filled('{"access_token":"a","token_type":"bearer","id_token":"', '.', '"}')],
  ['an ID token', filled('{"access_token":"a","token_type":"bearer","id_token":"a.', 'W1tb', '.a"}')],
  ['an access token', filled('{"token_type":"bearer","access_token":"', 'a', '"}')],
  ['a code of an error', filled('{"error":"', 'a.', '"}')],
  ['numbers of an error', filled('{"error":"a","error_codes":[', '1,', '2]}')],
  ['a page', filled('', 'AADSTS redirect_uri_ ')],
]

async function readTokens(body: string): Promise<void> {
  const bytes = Buffer.from(body)
  const headers = { 'content-type': 'application/json' }
  const server = await startScripted(({ path }) => ({
    status: path.startsWith('/error') ? 400 : 200,
    headers,
    body: bytes,
  }))
  try {
    const login = gmailLogin({
      ...OAUTH_CLIENT,
      authUrl: `${server.url}/auth`,
      tokenUrl: `${server.url}/token`,
      userinfoUrl: `${server.url}/userinfo`,
      clock: systemClock,
    })
    await Promise.allSettled([login.refresh('a'), login.identify?.('a'), login.probeRedirect('https://a.example/')])
  } finally {
    await server.close()
  }
}

/**
 * Records of a name, which fill at most the 64 KB of a response over TCP. Fewer MX records: Node itself takes 30 µs for each of them,
 * four times as long as for others.
 */
const ZONES: [shape: string, size: number, entry: (size: number) => ZoneEntry][] = [
  ['MX records', 500, (size) => ({ mx: times(size, (at) => ({ exchange: `m${at}.a`, priority: 1 })) })],
  ['SRV records', 2000, (size) => ({ srv: times(size, (at) => srvTo(`s${at}.a`)) })],
  ['the same SRV record', 2000, (size) => ({ srv: times(size, () => srvTo('s.a')) })],
  ['long names', 200, (size) => ({ srv: times(size, () => srvTo(`${'a'.repeat(60)}.`.repeat(4))) })],
  ['TXT records', 2000, (size) => ({ txt: times(size, (at) => `path=/${at}`) })],
  ['long TXT records', 230, (size) => ({ txt: times(size, () => ' '.repeat(250)) })],
]

const times = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const srvTo = (name: string) => ({ name, port: 993, priority: 1, weight: 1 })

async function detect(entry: ZoneEntry): Promise<void> {
  const names = ['a.org', '_imaps._tcp.a.org', '_imap._tcp.a.org', '_caldavs._tcp.a.org']
  const dns = await startDns(Object.fromEntries(names.map((name) => [name, entry])))
  try {
    const records = dnsRecords({ timeoutMs: 5000, servers: [dns.server] })
    const outbound = { send: () => Promise.reject(new Error('no such host')), close: async () => {} }
    const found = detection({ records, outbound, clock: systemClock })
    await found.findServer('ada@a.org')
    await found.detectProvider('ada@a.org')
    const access = { accountId: 'acc_1', email: 'ada@a.org', settings: {}, secrets: {} }
    await candidates(access, CALDAV, { records, log: silentLog, trusts: (host) => host.length % 2 === 0 })
  } finally {
    await dns.close()
  }
}

const tokens = passwordTokens(sealer(parseKeyRing(generateKeyRing('k'))))

export const SIGN_IN: HostileCase[] = [
  ...buildCases(
    'responses of a sign-in service',
    {},
    TOKEN_BODIES.map(([shape, text]) => ({
      shape,
      // Longer ones are not read.
      size: 256 * KB,
      prepare(size: number) {
        const body = text(size)
        return () => readTokens(body)
      },
    })),
  ),
  ...buildCases(
    'DNS records',
    {},
    ZONES.map(([shape, size, entry]) => ({
      shape,
      size,
      prepare(count: number) {
        const records = entry(count)
        return () => detect(records)
      },
    })),
  ),
  ...buildCases(
    'fields of the form for a mail server',
    {},
    TEXTS.map(([shape, text]) => ({
      shape,
      // The longest form, all fields together.
      size: 64 * KB,
      prepare(size: number) {
        const value = text(size / IMAP_FORM_FIELDS.length)
        const fields = Object.fromEntries(IMAP_FORM_FIELDS.map((name) => [name, value]))
        return () => {
          parseImapConnection(fields)
          formValues(fields)
          parseProposal(value, value)
          tokens.fill(fields, value, 'session', 'state')
        }
      },
    })),
  ),
  ...buildCases('what a page gives its booking form', {}, [
    {
      shape: 'names',
      size: 5000,
      prepare(size: number) {
        const fields = times(50, (at) => ({ name: `field ${at}`, label: 'a', type: 'text' as const }))
        const prefill = Object.fromEntries(times(size, (at) => [`prefill-${at}`, 'a']))
        return () => prefilled(fields, prefill)
      },
    },
  ]),
]
