import {
  cleanField,
  composedParts,
  decodedField,
  headerFields,
  htmlToText,
  mayBeDeliveryReport,
  parseAddress,
  parseDeliveryReport,
  parseHeaders,
  searchText,
  snippet,
  transferDecoder,
} from '../../src/providers/shared/mime/index.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'

const KB = 1024
const CRLF = '\r\n'

/** A text of this length: a start, then another text again and again. */
export function filled(start: string, text: string, end = ''): (size: number) => string {
  return (size) => start + text.repeat(Math.max(0, Math.floor((size - start.length - end.length) / text.length))) + end
}

export type Shape = [shape: string, text: (size: number) => string]

/** Header blocks. */
export const HEADERS: Shape[] = [
  ['fields', filled('', `A: b${CRLF}`)],
  ['fields that repeat a name that matters', filled('', `To: a@b.c${CRLF}`)],
  ['folded lines', filled('To: a', `${CRLF} b`)],
  ['empty continuations', filled('To: a', `${CRLF} `)],
  ['line ends', filled('', '\r')],
  ['colons', filled('', ':')],
  ['one field name', filled('', 'a')],
  ['spaces', filled('Subject: a', ' ')],
  ['addresses', filled('To: ', 'a@b.c,')],
  ['addresses with names', filled('To: ', '"A B" <a@b.c>,')],
  ['addresses with encoded names', filled('To: ', '=?utf-8?q?=41?= <a@b.c>,')],
  ['opening angle brackets', filled('To: ', '<')],
  ['closing angle brackets', filled('From: ', '>')],
  ['quotes', filled('To: ', '"')],
  ['escaped quotes', filled('To: "', '\\"')],
  ['open comments', filled('To: ', '(')],
  ['closed comments', filled('To: ', '()')],
  ['groups', filled('To: ', 'g:')],
  ['group ends', filled('To: ', 'g:;')],
  ['commas', filled('To: ', ',')],
  ['at signs', filled('To: ', '@')],
  ['words without an address', filled('From: ', 'a ')],
  ['encoded words', filled('Subject: ', '=?utf-8?q?a?= ')],
  ['encoded words in base64', filled('Subject: ', '=?utf-8?b?YQ==?= ')],
  ['encoded words in many charsets', filled('Subject: ', '=?iso-2022-jp?b?GyRCRnw=?= =?x?q?a?= ')],
  ['the start of encoded words', filled('Subject: ', '=?')],
  ['encoded words without an end', filled('Subject: ', '=?a?b?')],
  ['one encoded word', filled('Subject: =?utf-8?q?', '=41', '?=')],
  ['question marks', filled('Subject: =?', '?')],
  ['words between encoded words', filled('Subject: =?a?b?', ' ', '=?a?b?a?=')],
  ['references', filled('References: ', '<a@b.c> ')],
  ['references without white space', filled('References: ', '<a@b.c>')],
  ['brackets of a reference', filled('In-Reply-To: ', '<')],
  ['comments of a date', filled('Date: ', '(a) ')],
  ['open comments of a date', filled('Date: ', '(')],
  ['digits of a date', filled('Date: 1 Jan ', '1')],
  ['parameters of the type', filled('Content-Type: multipart/report', '; a=b')],
  ['bytes of no charset', filled('Subject: ', '\u00fc')],
]

/** Bodies in HTML. */
export const HTML: Shape[] = [
  ['open elements', filled('', '<div>')],
  ['closed elements', filled('', '</div>')],
  ['table cells', filled('<table>', '<tr><td>')],
  ['opening brackets', filled('', '<')],
  ['open tags', filled('', '<a ')],
  ['closing brackets', filled('', '>')],
  ['attributes', filled('<a ', 'a=b ')],
  ['attributes of the same name', filled('<a ', 'href="https://a.b/" ')],
  ['links', filled('', '<a href="https://a.b/">')],
  ['quotes', filled('<a href="', '\'"')],
  ['comments', filled('', '<!--a-->')],
  ['open comments', filled('', '<!--')],
  ['nearly closed comments', filled('<!--', '--!')],
  ['declarations', filled('', '<!a>')],
  ['styles', filled('', '<style>a</style>')],
  ['open styles', filled('', '<style>')],
  ['open scripts and styles', filled('', '<script><style><head><title>')],
  ['ends of styles', filled('<style>', '</style')],
  ['nearly ends of styles', filled('<style>', '</styl')],
  ['entities', filled('', '&amp;')],
  ['ampersands', filled('', '&')],
  ['numeric entities', filled('', '&#x41;')],
  ['long entities', filled('', '&CounterClockwiseContourIntegra')],
  ['a long number', filled('&#', '1')],
  ['declarations of a style', filled('<p style="', 'color:red;', '">')],
  ['colours of a style', filled('<p style="color:', 'rgb(', '">')],
  ['quotes of a style', filled('<p style="font-family:', "'a", '">')],
  ['spaces of a style', filled('<p style="color:', ' ', '">')],
  ['images', filled('', '<img src="data:image/png;base64,AAAA">')],
  ['a long image', filled('<img src="data:image/png;base64,', 'AA AA', '">')],
  ['white space', filled('a', ' ')],
  ['line ends', filled('', '\n')],
  ['soft hyphens', filled('a', '\u00ad')],
  ['vector images', filled('', '<svg>')],
  ['elements without an end tag', filled('', '<p><li><dd>')],
  ['elements and stray end tags', filled('<b>'.repeat(250), '</i></p></td>')],
]

const BODIES: Shape[] = [
  ['delimiters', filled('', `--b${CRLF}`)],
  ['nearly delimiters', filled('', `--bc${CRLF}`)],
  ['delimiters within lines', filled('', 'a--b')],
  ['parts', filled('', `--b${CRLF}${CRLF}a${CRLF}`)],
  ['delimiters with white space', filled('', `--b ${'\t'.repeat(250)}${CRLF}`)],
  ['line ends', filled('', '\n')],
  ['carriage returns', filled('', '\r')],
  ['header lines', filled(`--b${CRLF}`, `A: b${CRLF}`)],
  ['escapes', filled('', '=41')],
  ['soft line ends', filled('', '=\r\n')],
  ['spaces', filled('', ' ', 'x')],
  ['tabs before line ends', filled('', '\t\t\t\n')],
  ['equal signs', filled('', '=')],
  ['one line', filled('', 'a')],
  ['no base64', filled('', '!')],
  ['base64', filled('', 'QUJD')],
]

const REPORT = [
  'From: MAILER-DAEMON@a.b',
  'Content-Type: multipart/report; report-type=delivery-status; boundary=b',
  '',
  '',
].join(CRLF)
const STATUS = `${REPORT}--b${CRLF}Content-Type: message/delivery-status${CRLF}${CRLF}`

const REPORTS: Shape[] = [
  ...BODIES.map(([shape, text]): Shape => [shape, (size) => `${REPORT}${text(size - REPORT.length)}`]),
  ['groups of fields', filled(STATUS, `Final-Recipient: rfc822; a@b.c${CRLF}Action: failed${CRLF}${CRLF}`)],
  ['lines between groups', filled(STATUS, ` \t${CRLF}`)],
  ['white space of a line', filled(`${STATUS}a\n`, ' ')],
  ['codes', filled(`${STATUS}Final-Recipient: rfc822; a@b.c${CRLF}Diagnostic-Code: `, '5.1.')],
  ['types', filled(`${STATUS}Final-Recipient: `, 'rfc822;')],
  ['recipients of Exim', filled('From: MAILER-DAEMON@a.b\r\nX-Failed-Recipients: ', 'a@b.c,')],
  [
    'paragraphs of qmail',
    filled(`From: MAILER-DAEMON@a.b${CRLF}${CRLF}Hi. This is the qmail-send program\n`, '<a@b.c>:\na\n\n'),
  ],
  ['words before a copy', filled(`From: MAILER-DAEMON@a.b${CRLF}${CRLF}`, '--- --')],
]

/** A composed message whose parts are nested, or follow each other. */
function composed(size: number): Buffer {
  const part = `${CRLF}--b${CRLF}Content-Type: text/x${CRLF}${CRLF}a`
  return Buffer.from(`Content-Type: multipart/mixed; boundary=b${CRLF}${part.repeat(size)}${CRLF}--b--`)
}

export const MIME: HostileCase[] = [
  ...buildCases(
    'header fields',
    {},
    HEADERS.map(([shape, text]) => ({
      shape,
      size: 128 * KB,
      prepare(size: number) {
        const block = Buffer.from(text(size), 'latin1')
        return () => {
          const headers = parseHeaders(block)
          const fields = headerFields(headers)
          mayBeDeliveryReport(headers, fields.from)
        }
      },
    })),
  ),
  ...buildCases(
    'fields that are shown',
    {},
    HEADERS.map(([shape, text]) => ({
      shape,
      size: 128 * KB,
      prepare(size: number) {
        const value = text(size)
        return () => [decodedField(value), cleanField(value, 500)]
      },
    })),
  ),
  ...buildCases(
    'addresses of requests',
    {},
    HEADERS.map(([shape, text]) => ({
      shape,
      size: 2000,
      prepare(size: number) {
        const value = text(size - 3).replace(/^[\w-]+: /, '')
        return () => [value, `${value}@a.b`, `${value}>`, `a <${value}>`, `a@${value}`].map(parseAddress)
      },
    })),
  ),
  ...buildCases(
    'text of HTML',
    { totalMs: 200 },
    HTML.map(([shape, text]) => ({
      shape,
      size: 64 * KB,
      prepare(size: number) {
        const html = text(size)
        return () => [snippet(htmlToText(html)), searchText(html)]
      },
    })),
  ),
  ...buildCases(
    'delivery reports',
    {},
    REPORTS.map(([shape, text]) => ({
      shape,
      size: 256 * KB,
      prepare(size: number) {
        const raw = Buffer.from(text(size))
        return () => parseDeliveryReport(raw)
      },
    })),
  ),
  ...buildCases(
    'transfer encodings',
    { totalMs: 100 },
    ['base64', 'quoted-printable'].flatMap((encoding) =>
      BODIES.map(([shape, text]) => ({
        shape: `${encoding} with ${shape}`,
        size: 512 * KB,
        prepare(size: number) {
          const body = Buffer.from(text(size))
          return async () => {
            const decoder = transferDecoder(encoding)
            // As they arrive from a server, in small and large chunks.
            for (let at = 0; at < body.length; at += 1400) {
              decoder.write(body.subarray(at, at + 1400))
              if (at % 14_000 === 0) await new Promise(setImmediate)
            }
            decoder.end()
          }
        },
      })),
    ),
  ),
  ...buildCases('composed messages', {}, [
    {
      shape: 'parts',
      size: 400,
      prepare(size: number) {
        const raw = composed(size)
        return () => composedParts(raw)
      },
    },
  ]),
]
