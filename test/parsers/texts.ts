import { generateKeyPairSync } from 'node:crypto'
import { parseGuest } from '../../src/booking/bookings/input.ts'
import { slotTokens } from '../../src/booking/slots/callback/tokens.ts'
import { searchWords } from '../../src/calendars/search-text.ts'
import { indexedWords, plainWords, queryWords } from '../../src/mail/search/tokeniser.ts'
import { identifyVisitor } from '../../src/mail/tracking/visitor.ts'
import { readLicenceKey } from '../../src/operations/licence/key.ts'
import { generateKeyRing, parseKeyRing, sealer } from '../../src/platform/crypto/seal.ts'
import { pageRequest } from '../../src/platform/formats/pagination.ts'
import { cleanJson, cleanText, truncateText } from '../../src/platform/formats/text.ts'
import { wantsHtml } from '../../src/platform/http/server/requests/accept.ts'
import { parseCookies } from '../../src/platform/http/server/requests/cookies.ts'
import { redactor } from '../../src/platform/log/redact.ts'
import { parseTime } from '../../src/platform/time/time.ts'
import { buildQuery as gmailQuery } from '../../src/providers/gmail/search.ts'
import { buildQuery as graphQuery } from '../../src/providers/microsoft/search.ts'
import { readSubject } from '../../src/providers/shared/oauth/id-token.ts'
import { bookingTexts } from '../../src/ui/booking/index.ts'
import { translate } from '../../src/ui/hosted/index.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'
import { filled, type Shape } from './mime.ts'

const KB = 1024

/** Node accepts headers and a request line of 16 kB together. */
const HEADER_BYTES = 16 * KB
/** The longest query of a search. */
const QUERY = 500
/** The length of a message's text that is stored for search. */
const STORED_TEXT = 4096

export const TEXTS: Shape[] = [
  ...[
    'a',
    '@',
    'a@',
    '.',
    'a.',
    '"',
    "'",
    "a'",
    ':',
    ';',
    ',',
    ', ',
    '=',
    'a=',
    '; a=',
    '%',
    '%41',
    '/',
    '-',
    'a-',
    '_',
    'a_',
  ].map((text): Shape => [`repeated ${text}`, filled('', text)]),
  ['spaces', filled('a', ' ', 'b')],
  ['line ends', filled('a', '\r\n')],
  ['accents', filled('a', '\u0301')],
  ['characters that grow', filled('', '\ufdfa')],
  ['a row of Japanese', filled('', '\u6771\u4eac\u90fd')],
  ['emoji', filled('', '\u{1f44d}\u{1f3fd}')],
  ['half characters', filled('', '\ud83d')],
  ['NUL', filled('', '\0')],
  ['digits', filled('', '1')],
  ['tokens that begin', filled('', 'eyJ-')],
  ['tokens without an end', filled('eyJ', 'eyJaaaaaaaa-')],
  ['addresses of hosts', filled('', 'a://b:')],
  ['names of secrets', filled('', "'token")],
  ['members with secrets', filled('', '"a_password":"')],
  ['headers with secrets', filled('', 'cookie ')],
  ['bearer tokens', filled('', 'bearer ')],
  ['bearer tokens far apart', filled('bearer', ' ')],
  ['preferences', filled('', 'a;q=0.1,')],
  ['languages', filled('', 'de-DE;q=0.')],
]

function textCases(parser: string, size: number, parse: (text: string) => unknown): HostileCase[] {
  return buildCases(
    parser,
    {},
    TEXTS.map(([shape, text]) => ({
      shape,
      size,
      prepare(length: number) {
        const value = text(length)
        return () => parse(value)
      },
    })),
  )
}

/** The first failure must not hide the others. */
function attempt(parse: () => unknown): void {
  try {
    parse()
  } catch (error) {
    if (error instanceof TypeError || error instanceof ReferenceError) throw error
  }
}

const sealed = sealer(parseKeyRing(generateKeyRing('k')))
const slot = { start: 0, end: 1, timezone: 'UTC', participants: [], metadata: {} }
const { publicKey } = generateKeyPairSync('ed25519')
const redact = redactor()

export const PLAIN_TEXTS: HostileCase[] = [
  ...textCases('words to index', STORED_TEXT, (text) => indexedWords(text)),
  ...textCases('words of a query', QUERY, (text) => [queryWords(text), plainWords(text), searchWords(text)]),
  ...textCases('queries for providers', QUERY, (text) => {
    const words = plainWords(text)
    return [gmailQuery({ text: words, from: words }), graphQuery({ text: words, to: words })]
  }),
  ...textCases('request headers', HEADER_BYTES, (text) => {
    parseCookies(text)
    wantsHtml(text)
    translate(text)
    bookingTexts(text, text)
    identifyVisitor({ 'user-agent': text, purpose: text }, '203.0.113.1')
  }),
  ...textCases('ids, cursors and tokens', HEADER_BYTES, (text) => {
    const json = Buffer.from(JSON.stringify([text])).toString('base64url')
    attempt(() => pageRequest({ cursor: text }, 'list', ['integer']))
    attempt(() => pageRequest({ cursor: json }, 'list', ['integer']))
    attempt(() => sealed.open(text, 'context'))
    attempt(() => sealed.open(`k:${text}`, 'context'))
    attempt(() => slotTokens(sealed).isValid(text, 'exp_1', slot, 0))
    attempt(() => readLicenceKey(text, publicKey))
    attempt(() => readSubject(text, 'client', 'token'))
    attempt(() => parseTime(text))
  }),
  ...textCases('fields of forms', 32 * KB, (text) => {
    parseGuest('body.guest', { name: text, email: text, timezone: text, locale: text, phone: text }, [])
    parseGuest('body.guest', { name: text, email: `${text}@a.b`, phone: `+${text}` }, [])
  }),
  ...textCases('texts to store', 128 * KB, (text) => [cleanText(text), cleanJson({ text }), truncateText(text, 100)]),
  ...textCases('texts to log', 64 * KB, (text) => redact.text(text)),
]
