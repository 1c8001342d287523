import { parser } from 'imapflow/lib/handler/imap-handler.js'
import { RESPONSE_LIMITS, ResponseGate } from '../../src/providers/imap/connection/response-gate.ts'
import { providerError } from '../../src/providers/imap/errors.ts'
import { FolderNames } from '../../src/providers/imap/folders/folder-names.ts'
import { RepeatedListing } from '../../src/providers/imap/folders/repeated-listing.ts'
import { messageOfSource, remoteMessage } from '../../src/providers/imap/messages/map.ts'
import { smtpError } from '../../src/providers/smtp/errors.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'
import { filled, HEADERS, HTML, type Shape } from './mime.ts'

const KB = 1024
const MB = KB * KB

/** Responses of a server, which the gate lets through or cuts. */
const RESPONSES: Shape[] = [
  ['literals', filled('* X ', '{1}\r\na', '\r\n')],
  ['numbers', filled('* X ', '1 ', '\r\n')],
  ['lists', filled('* X ', '()', '\r\n')],
  ['a deep list', filled('* X ', '(', '\r\n')],
  ['one atom', filled('* X ', 'a', '\r\n')],
  ['one string', filled('* X "', 'a', '"\r\n')],
  ['escapes of a string', filled('* X "', '\\"', '"\r\n')],
  ['flags', filled('* 1 FETCH (FLAGS (', '\\a ', '))\r\n')],
  ['a sequence', filled('* VANISHED ', '1,3:5,', '9\r\n')],
  ['a search', filled('* SEARCH ', '1 ', '9\r\n')],
  ['a response code', filled('* OK [X ', 'a ', '] a\r\n')],
  ['brackets of a section', filled('* 1 FETCH (BODY', '[', ')\r\n')],
  ['parts of a structure', filled('* 1 FETCH (BODYSTRUCTURE (', '("A" "B" NIL NIL NIL "7BIT" 2 1)', '))\r\n')],
  ['short responses', filled('', '* 1 EXISTS\r\n')],
  ['folders', filled('', '* LIST () "/" a\r\n')],
  ['line ends', filled('', '\r\n')],
  ['no line end', filled('* X ', 'a ')],
]

/** Names that are not modified UTF-7. */
const FOLDERS: Shape[] = [
  ['folders with one name', filled('', '* LIST () "/" "R&D"\r\n', 'A1 OK done\r\n')],
  ['folders with many names', (size) => folders(size, (index) => `R&D${index}`)],
  ['folders in UTF-8 and latin1', (size) => folders(size, (index) => `\xc3\xa9${index}/\xe9`)],
  ['one long name', filled('* LIST () "/" "', '&', '"\r\nA1 OK done\r\n')],
  ['a long name as a literal', filled('* LIST () "/" {60000}\r\n', '&AOk-', '\r\nA1 OK done\r\n')],
]

function folders(size: number, folderName: (index: number) => string): string {
  let text = ''
  for (let index = 0; text.length < size; index += 1) text += `* LIST () "/" "${folderName(index)}"\r\n`
  return `${text}A1 OK done\r\n`
}

/** The lines of a response as imapflow receives them, without their line ends. */
function parsedLines(text: string): unknown {
  const lines = text.split('\r\n').filter(Boolean)
  return Promise.all(lines.slice(0, 100).map((line) => parser(line, { literals: [Buffer.from('a')] }).catch(() => {})))
}

function inChunks(text: string, chunkBytes: number, pass: (chunk: Buffer) => unknown): void {
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; at += chunkBytes) pass(bytes.subarray(at, at + chunkBytes))
}

const CRLF = '\r\n'
const BODIES: Shape[] = [
  ['delimiters', filled('', `--b${CRLF}`)],
  ['nearly delimiters', filled('', 'a--b')],
  ['parts', filled('', `--b${CRLF}${CRLF}a${CRLF}`)],
  ['line ends', filled('', '\n')],
  ['header lines', filled(`--b${CRLF}`, `A: b${CRLF}`)],
  ['nested parts', filled('', `Content-Type: multipart/mixed; boundary=b${CRLF}${CRLF}--b${CRLF}`)],
  ['encoded lines', filled(`Content-Transfer-Encoding: quoted-printable${CRLF}${CRLF}`, '=41')],
  ['spaces', filled(`Content-Transfer-Encoding: quoted-printable${CRLF}${CRLF}`, ' ', 'a')],
  ...HTML.map(
    ([shape, text]): Shape => [`HTML with ${shape}`, (size) => `Content-Type: text/html${CRLF}${CRLF}${text(size)}`],
  ),
  ...HEADERS,
]

/** A structure with so many parts: beside each other, or within each other. */
function structure(parts: number, isDeep: boolean): object {
  const leaf = (part: string) => ({ part, type: 'text/plain', size: 1, parameters: {} })
  if (!isDeep) {
    const childNodes = Array.from({ length: parts }, (_, at) => leaf(`${at + 1}`))
    return { type: 'multipart/mixed', parameters: { boundary: 'b' }, childNodes }
  }
  let node: object = leaf('1')
  for (let level = 0; level < parts; level += 1) {
    node = { type: 'multipart/mixed', parameters: { boundary: 'b' }, childNodes: [node] }
  }
  return node
}

const CONTEXT = {
  uidValidity: '1',
  isNew: true,
  nowMs: 0,
  onFault(error: unknown) {
    throw error
  },
}

export const IMAP: HostileCase[] = [
  ...buildCases(
    'IMAP responses',
    { isOnThread: true },
    RESPONSES.map(([shape, text]) => ({
      shape,
      // Longer lines do not reach the parser.
      size: 64 * KB,
      prepare(size: number) {
        const response = text(size)
        return () => parsedLines(response)
      },
    })),
  ),
  ...buildCases(
    'the limits of IMAP responses',
    { isOnThread: true, totalMs: 200 },
    RESPONSES.flatMap(([shape, text]) =>
      [64 * KB, 100].map((chunkBytes) => ({
        shape: `${shape}, ${chunkBytes} bytes at once`,
        size: MB,
        prepare(size: number) {
          const response = text(size)
          return () => {
            const gate = new ResponseGate(RESPONSE_LIMITS)
            inChunks(response, chunkBytes, (chunk) => gate.pass(chunk))
          }
        },
      })),
    ),
  ),
  ...buildCases(
    'repeated listings',
    { isOnThread: true, totalMs: 200 },
    RESPONSES.map(([shape, text]) => ({
      shape,
      size: MB,
      prepare(size: number) {
        const response = text(size)
        return () => {
          const gate = new ResponseGate(RESPONSE_LIMITS)
          const listing = new RepeatedListing()
          void listing.read(gate, () => new Promise(() => {}))
          inChunks(response, 100, (chunk) => listing.pass(chunk))
        }
      },
    })),
  ),
  ...buildCases(
    'names of folders',
    { isOnThread: true, totalMs: 2000 },
    [...RESPONSES, ...FOLDERS].flatMap(([shape, text]) =>
      [false, true].map((usesUtf8) => ({
        shape: `${shape}${usesUtf8 ? ', in UTF-8' : ''}`,
        size: MB,
        prepare(size: number) {
          const response = text(size)
          return () => {
            const gate = new ResponseGate({ ...RESPONSE_LIMITS, responseBytes: 2 * MB })
            const names = new FolderNames(() => usesUtf8)
            inChunks(response, 2048, (chunk) => {
              gate.forgetFolders()
              names.pass(gate.pass(chunk))
            })
          }
        },
      })),
    ),
  ),
  ...buildCases('messages over IMAP', { isOnThread: true }, [
    ...BODIES.map(([shape, text]) => ({
      shape,
      size: 16 * KB,
      prepare(size: number) {
        const content = Buffer.from(text(size), 'latin1')
        const row = { seq: 1, uid: 1, headers: content, bodyParts: new Map([['text', content]]) }
        return () => remoteMessage(row, CONTEXT)
      },
    })),
    ...[true, false].map((isDeep) => ({
      shape: isDeep ? 'a deep structure' : 'a wide structure',
      size: isDeep ? 100 : 1250,
      prepare(size: number) {
        const row = {
          seq: 1,
          uid: 1,
          headers: Buffer.from(`Content-Type: multipart/mixed; boundary=b${CRLF}${CRLF}`),
          bodyParts: new Map([['text', Buffer.from(`--b${CRLF}${CRLF}`.repeat((16 * KB) / 7))]]),
          bodyStructure: structure(size, isDeep),
        }
        return () => remoteMessage(row as Parameters<typeof remoteMessage>[0], CONTEXT)
      },
    })),
  ]),
  ...buildCases(
    'messages without a structure',
    { isOnThread: true, totalMs: 400 },
    BODIES.map(([shape, text]) => ({
      shape,
      size: MB,
      prepare(size: number) {
        const bytes = Buffer.from(text(size), 'latin1')
        const row = { seq: 1, uid: 1, headers: Buffer.alloc(0) }
        return () => messageOfSource(row, { bytes, isWhole: true }, CONTEXT)
      },
    })),
  ),
  ...buildCases(
    'refusals of mail servers',
    {},
    [...RESPONSES, ...HEADERS].map(([shape, text]) => ({
      shape,
      size: 64 * KB,
      prepare(size: number) {
        const words = text(size)
        return () => [
          providerError({ responseStatus: 'NO', responseText: words, response: words, reason: words }, 'testing'),
          smtpError(
            { code: 'EENVELOPE', responseCode: 450, response: words, rejectedErrors: [{ response: words }] },
            'testing',
          ),
        ]
      },
    })),
  ),
]
