import * as Type from 'typebox'
import { lazy } from '../../src/platform/concurrency/lazy.ts'
import { testServer } from '../kit/http/server.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'
import { filled, type Shape } from './mime.ts'

const KB = 1024
const MB = KB * KB

/** A server with a route for each kind of body. It does not listen. */
const server = lazy(() => {
  const app = testServer()
  const body = Type.Object({ subject: Type.Optional(Type.String()), items: Type.Optional(Type.Array(Type.String())) })
  app.post('/json', { config: { access: 'public' }, schema: { body } }, async () => ({}))
  app.post('/form', { config: { access: 'public', form: true } }, async () => ({}))
  app.post('/files', { config: { access: 'key:write', maxFileBytes: 8 * MB }, bodyLimit: 8 * MB }, async () => ({}))
  const querystring = Type.Object({ q: Type.Optional(Type.String({ maxLength: 100 })) })
  app.get('/items/:id', { config: { access: 'public' }, schema: { querystring } }, async () => ({}))
  return app
})

function bodyCases(parser: string, url: string, type: string, size: number, shapes: Shape[]): HostileCase[] {
  return buildCases(
    parser,
    {},
    shapes.map(([shape, text]) => ({
      shape,
      size,
      prepare(length: number) {
        const payload = Buffer.from(text(length))
        const headers = { authorization: 'Bearer good', 'content-type': type }
        return () => server().inject({ method: 'POST', url, headers, payload })
      },
    })),
  )
}

const HEAD = '--b\r\nContent-Disposition: form-data; name='
const PARTS: Shape[] = [
  ['parts', filled('', `${HEAD}"a"; filename="a"\r\n\r\na\r\n`)],
  ['parts without a name', filled('', '--b\r\n\r\na\r\n')],
  ['delimiters', filled('', '--b\r\n')],
  ['nearly delimiters', filled(`${HEAD}"a"; filename="a"\r\n\r\n`, '\r\n--')],
  ['the first half of delimiters', filled(`${HEAD}"a"; filename="a"\r\n\r\n`, '\r\n-')],
  ['line ends', filled(`${HEAD}"a"; filename="a"\r\n\r\n`, '\r\n')],
  ['header lines', filled('--b\r\n', 'A: b\r\n')],
  ['one header line', filled(HEAD, 'a')],
  ['parameters', filled(`${HEAD}"a"`, '; a=b')],
  ['quotes', filled(HEAD, '"')],
  ['escapes', filled(`${HEAD}"`, '\\"')],
  ['what follows the end', filled('--b--', '\r\n--b')],
  ['no delimiter', filled('', 'a')],
]

const JSON_BODIES: Shape[] = [
  ['lists', filled('', '[')],
  ['empty lists', filled('{"items":[', '[],', '0]}')],
  ['numbers', filled('{"items":[', '1,', '0]}')],
  ['members', filled('{"a":0', ',"a":0', '}')],
  ['misspelled members', filled('{"a":0', ',"sub_ject":0', '}')],
  ['prototypes', filled('{"a":0', ',"__proto__":{}', '}')],
  ['names of prototypes', filled('{"a":"', '__proto__', '"}')],
  ['escaped names of prototypes', filled('{"a":"', '\\u005f_proto__":', '"}')],
  ['strings', filled('{"items":["a"', ',"a"', ']}')],
  ['spaces', filled('', ' ', '{}')],
  ['quotes', filled('', '"')],
]

const FORMS: Shape[] = [
  ['fields', filled('', 'a=b&')],
  ['empty fields', filled('', '&')],
  ['equal signs', filled('', '=')],
  ['escapes', filled('a=', '%41')],
  ['bad escapes', filled('a=', '%')],
  ['plus signs', filled('a=', '+')],
]

const TARGETS: Shape[] = [
  ...FORMS.map(([shape, text]): Shape => [`a query with ${shape}`, (size) => `/items/a?${text(size)}`]),
  ['segments', filled('/', 'a/')],
  ['a long segment', filled('/items/', 'a')],
  ['escapes', filled('/items/', '%41')],
  ['bad escapes', filled('/items/', '%')],
  ['dots', filled('/items/', '../')],
  ['question marks', filled('/items/a', '?')],
  ['repeated fields', filled('/items/a?q=a', '&q=a')],
]

const HEADER_VALUES: Shape[] = [
  ...['a', ',', ';', '=', '"', ' ', 'a,', 'a;q=', 'bytes=0-,', '0'].map(
    (text): Shape => [`repeated ${text}`, filled('', text)],
  ),
]
const HEADER_NAMES = [
  'accept',
  'accept-encoding',
  'accept-language',
  'authorization',
  'content-type',
  'cookie',
  'forwarded',
  'host',
  'idempotency-key',
  'if-none-match',
  'origin',
  'range',
  'referer',
  'user-agent',
  'x-forwarded-for',
  'x-request-id',
]

export const HTTP: HostileCase[] = [
  // 64 kB without a key, 1 MB with one.
  ...bodyCases('JSON bodies', '/json', 'application/json', 64 * KB, JSON_BODIES),
  ...bodyCases('forms', '/form', 'application/x-www-form-urlencoded', 64 * KB, FORMS),
  ...bodyCases('multipart bodies', '/files', 'multipart/form-data; boundary=b', MB, PARTS),
  ...bodyCases(
    'the JSON of a multipart body',
    '/files',
    'multipart/form-data; boundary=b',
    MB,
    JSON_BODIES.map(([shape, text]) => {
      const [start, end] = [`${HEAD}"message"\r\n\r\n`, '\r\n--b--\r\n']
      return [shape, (size) => start + text(size - start.length - end.length) + end]
    }),
  ),
  ...buildCases(
    'request targets',
    {},
    TARGETS.map(([shape, text]) => ({
      shape,
      size: 16 * KB,
      prepare(size: number) {
        const url = text(size)
        return () => server().inject({ method: 'GET', url })
      },
    })),
  ),
  ...buildCases(
    'headers of a request',
    {},
    HEADER_VALUES.map(([shape, text]) => ({
      shape,
      size: 16 * KB,
      prepare(size: number) {
        const value = text(size / HEADER_NAMES.length)
        const headers = Object.fromEntries(HEADER_NAMES.map((name) => [name, value]))
        return () => server().inject({ method: 'GET', url: '/items/a', headers })
      },
    })),
  ),
]
