import { Readable } from 'node:stream'
import { parseAvailability, parseDecision, parseRoute, reasonIn } from '../../src/booking/callbacks/response-checks.ts'
import { exceededJsonLimit } from '../../src/platform/formats/json-limits.ts'
import { batchParts } from '../../src/providers/gmail/batch-parts.ts'
import { readReasons } from '../../src/providers/gmail/errors.ts'
import { foundMessage as gmailMessage, messageBody } from '../../src/providers/gmail/map.ts'
import { foundMessage as graphMessage, mapAttachments, readHeaders } from '../../src/providers/microsoft/map.ts'
import { parseErrorCode } from '../../src/providers/shared/oauth/errors.ts'
import { parseJson, readJson } from '../../src/providers/shared/rest/index.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'
import { filled, HEADERS, HTML, type Shape } from './mime.ts'

const KB = 1024
const MB = KB * KB

/** As they arrive, in pieces of one packet. */
function arriving(text: string, chunkBytes = 16 * KB): Readable {
  const bytes = Buffer.from(text)
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes)
    })(),
  )
}

export const JSON_TEXTS: Shape[] = [
  ['lists', filled('', '[')],
  ['objects', filled('', '{"a":')],
  ['empty lists', filled('{"a":[', '[],', '0]}')],
  ['empty objects', filled('{"a":[', '{},', '0]}')],
  ['numbers', filled('{"a":[', '1,', '0]}')],
  ['members', filled('{"b":0', ',"a":0', '}')],
  ['lists of the outermost object', filled('{"b":0', ',"a":[1]', '}')],
  ['one element', filled('{"a":["', 'a', '"]}')],
  ['one string', filled('{"a":"', 'a', '"}')],
  ['escapes', filled('{"a":["', '\\u0041', '"]}')],
  ['backslashes', filled('{"a":["', '\\\\', '"]}')],
  ['quotes', filled('', '"')],
  ['escaped quotes', filled('{"a":"', '\\"', '"}')],
  ['short strings', filled('{"a":[', '"a",', '0]}')],
  ['commas', filled('{"a":[', ',')],
  ['closing brackets', filled('{"a":[', ']')],
  ['spaces', filled('{"a":[', ' ', '0]}')],
  ['one number', filled('{"a":[', '1', ']}')],
  ['text that is no JSON', filled('{', 'a')],
]

const DELIMITER = '\r\n--b\r\n'
const PART = `${DELIMITER}Content-Type: application/http\r\nContent-ID: <response-item-1>\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n\r\n{"id":"a"}`
const BATCHES: Shape[] = [
  ['parts', filled('', PART)],
  ['empty parts', filled('', DELIMITER)],
  ['nearly delimiters', filled('', '\r\n--')],
  ['line ends', filled(DELIMITER, '\r\n')],
  ['digits of an id', filled(`${DELIMITER}Content-ID: `, '1')],
  ['digits and spaces of an id', filled(`${DELIMITER}Content-ID: `, '1 ', 'x\r\n\r\n')],
  ['spaces of an id', filled(`${DELIMITER}Content-ID: 1`, ' ', 'x\r\n\r\n')],
  ['lines of an id', filled(`${DELIMITER}`, 'Content-ID: 1x\n', '\r\n\r\n')],
  ['header lines', filled(`${DELIMITER}Content-ID: 1\r\n\r\nHTTP/1.1 200 OK\r\n`, 'A: b\r\n', `\r\n{}${DELIMITER}`)],
  ['a deep body', filled(`${DELIMITER}Content-ID: 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n`, '[', DELIMITER)],
]

const FLAT_PART = {
  mimeType: 'image/png',
  filename: 'a',
  body: { size: 1 },
  headers: [{ name: 'Content-ID', value: '<a>' }],
}

function gmailCases(): HostileCase[] {
  return buildCases('messages of Gmail', {}, [
    ...HEADERS.map(([shape, text]) => ({
      shape,
      size: 128 * KB,
      prepare(size: number) {
        const [, name = '', value = ''] = /^([\w-]+): (.*)$/s.exec(text(size)) ?? []
        const message = { payload: { headers: [{ name, value }] } }
        return () => gmailMessage('a', message, { isNew: true, nowMs: 0 })
      },
    })),
    ...HTML.map(([shape, text]) => ({
      shape: `HTML with ${shape}`,
      size: 64 * KB,
      prepare(size: number) {
        const data = Buffer.from(text(size)).toString('base64url')
        const message = { payload: { mimeType: 'text/html', body: { data, size } } }
        return () => gmailMessage('a', message, { isNew: true, nowMs: 0 })
      },
    })),
    {
      shape: 'parts',
      size: 10_000,
      prepare(size: number) {
        const message = {
          payload: { mimeType: 'multipart/mixed', parts: Array.from({ length: size }, () => FLAT_PART) },
        }
        return () => gmailMessage('a', message, { isNew: true, nowMs: 0 })
      },
    },
    {
      shape: 'header fields',
      size: 10_000,
      prepare(size: number) {
        const headers = Array.from({ length: size }, (_, at) => ({ name: at % 2 ? 'To' : `X-${at}`, value: 'a@b.c' }))
        return () => gmailMessage('a', { payload: { headers } }, { isNew: true, nowMs: 0 })
      },
    },
    {
      shape: 'labels',
      size: 100_000,
      prepare(size: number) {
        const labelIds = Array.from({ length: size }, (_, at) => `Label_${at}`)
        return () => gmailMessage('a', { labelIds, payload: {} }, { isNew: true, nowMs: 0 })
      },
    },
    {
      shape: 'texts',
      size: 2000,
      prepare(size: number) {
        const parts = Array.from({ length: size }, () => ({ mimeType: 'text/plain', body: { data: 'QQ' } }))
        return () => messageBody({ payload: { mimeType: 'multipart/mixed', parts } }, async () => Buffer.alloc(0))
      },
    },
  ])
}

const PERSON = { emailAddress: { name: 'A', address: 'a@b.c' } }
const CONTEXT = { isNew: true, folder: 'a', attachments: [], nowMs: 0, error: null }

function graphCases(): HostileCase[] {
  return buildCases('messages of Graph', {}, [
    ...HTML.map(([shape, text]) => ({
      shape: `a text with ${shape}`,
      size: 64 * KB,
      prepare(size: number) {
        const content = text(size)
        const item = { id: 'a', subject: content, bodyPreview: content, body: { content }, internetMessageId: content }
        return () => graphMessage(item, CONTEXT)
      },
    })),
    {
      shape: 'recipients',
      size: 10_000,
      prepare(size: number) {
        const toRecipients = Array.from({ length: size }, () => PERSON)
        return () => graphMessage({ toRecipients, ccRecipients: toRecipients }, CONTEXT)
      },
    },
    {
      shape: 'properties',
      size: 10_000,
      prepare(size: number) {
        const singleValueExtendedProperties = Array.from({ length: size }, () => ({
          id: 'String 0x1039',
          value: '<a>',
        }))
        return () => graphMessage({ singleValueExtendedProperties }, CONTEXT)
      },
    },
    {
      shape: 'references',
      size: 256 * KB,
      prepare(size: number) {
        const value = '<a@b.c> '.repeat(size / 8)
        const singleValueExtendedProperties = [{ id: 'String 0x1039', value }]
        return () => graphMessage({ singleValueExtendedProperties }, CONTEXT)
      },
    },
    {
      shape: 'attachments and header fields',
      size: 10_000,
      prepare(size: number) {
        const items = Array.from({ length: size }, (_, at) => ({
          id: `${at}`,
          name: 'a',
          contentId: '<a>',
          value: '\r\n a',
        }))
        return () => [mapAttachments(items), readHeaders({ internetMessageHeaders: items })]
      },
    },
  ])
}

function slots(count: number): unknown {
  return {
    generatedAt: '2026-11-20T09:00:00Z',
    slots: Array.from({ length: count }, (_, at) => ({
      start: new Date(at * 60_000).toISOString(),
      end: new Date(at * 60_000 + 1000).toISOString(),
      timezone: 'Europe/Berlin',
      metadata: { a: 'b' },
    })),
  }
}

export const PROVIDERS: HostileCase[] = [
  ...buildCases('JSON of providers', { totalMs: 250 }, [
    ...JSON_TEXTS.map(([shape, text]) => ({
      shape,
      size: MB / 2,
      prepare(size: number) {
        const json = text(size)
        return () => readJson(arriving(json), { maxBytes: 64 * MB, timeoutMs: 60_000, doing: 'testing' })
      },
    })),
    ...JSON_TEXTS.map(([shape, text]) => ({
      shape: `${shape}, cut`,
      size: MB / 2,
      prepare(size: number) {
        const json = text(size)
        return () =>
          readJson(arriving(json, 1400), { maxBytes: 64 * MB, timeoutMs: 60_000, doing: 'testing', maxString: 1000 })
      },
    })),
  ]),
  ...buildCases(
    'short JSON of providers',
    {},
    JSON_TEXTS.map(([shape, text]) => ({
      shape,
      size: 256 * KB,
      prepare(size: number) {
        const json = text(size)
        return () => [
          exceededJsonLimit(json, { depth: 50, values: 5000 }),
          readReasons(parseJson(json)),
          parseErrorCode(json),
        ]
      },
    })),
  ),
  ...buildCases(
    'batch responses of Gmail',
    { totalMs: 200 },
    BATCHES.map(([shape, text]) => ({
      shape,
      size: MB / 2,
      prepare(size: number) {
        const body = text(size)
        return async () => {
          for await (const _ of batchParts(arriving(body), 'multipart/mixed; boundary=b', 10 * MB))
            await new Promise(setImmediate)
        }
      },
    })),
  ),
  ...gmailCases(),
  ...graphCases(),
  ...buildCases('responses of callbacks', { totalMs: 200 }, [
    {
      shape: 'slots',
      size: 2000,
      prepare(size: number) {
        const body = slots(size)
        return () => parseAvailability(body, 'UTC')
      },
    },
    ...HTML.map(([shape, text]) => ({
      shape: `a text with ${shape}`,
      size: 256 * KB,
      prepare(size: number) {
        const value = text(size)
        return () => {
          reasonIn({ message: value })
          parseDecision({ status: 'confirmed', metadata: { value } })
          parseRoute({ redirectUrl: `https://${value}` })
        }
      },
    })),
  ]),
]
