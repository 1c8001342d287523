import { parseImapServer } from '../../src/accounts/auth/detection/autoconfig.ts'
import { parseDav } from '../../src/providers/shared/dav/multistatus.ts'
import { buildCases, type HostileCase } from './hostile-case.ts'

const MB = 1024 * 1024
const START = '<D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">'
const ITEM_START = `${START}<D:response><D:propstat><D:prop><C:calendar-data>`

/** The start of a document, filled with a text to a length in bytes. */
function filled(start: string, text: string): (size: number) => string {
  return (size) => start + text.repeat(Math.ceil((size - start.length) / text.length))
}

function declarations(count: number): string {
  const open = Array.from({ length: Math.floor(count / 25) }, (_, level) => {
    const own = Array.from({ length: 25 }, (_, at) => `xmlns:p${level * 25 + at}="urn:${at}"`)
    return `<q:a ${own.join(' ')}>`
  })
  return open.join('')
}

/** So many prefixes around so many elements that have none of them. */
function prefixed(prefixes: number): string {
  const resource = `${declarations(prefixes)}${'<q:a/>'.repeat(1900)}${'</q:a>'.repeat(Math.floor(prefixes / 25))}`
  return START + resource.repeat(Math.ceil(prefixes / 2))
}

const WIDE = `<D:response>${'<D:a/>'.repeat(1900)}</D:response>`
const SMALL = '<D:response><D:href>/a/</D:href></D:response>'
const ATTRIBUTES = Array.from({ length: 28 }, (_, at) => `a${at}="${at}"`).join(' ')

const DOCUMENTS: [shape: string, document: (size: number) => string][] = [
  ['prefixes declared by every element', filled(START, `${declarations(75)}</q:a></q:a></q:a>`)],
  ['small elements', filled(START, WIDE)],
  ['small resources', filled(START, SMALL)],
  ['elements with attributes', filled(START, `<D:response ${ATTRIBUTES}/>`)],
  ['attributes of one element', filled(`${START}<D:response`, ' a=""')],
  ['open elements', filled(START, '<D:response>')],
  ['closed elements', filled(START, '</D:response>')],
  ['opening brackets', filled(START, '<')],
  ['ampersands', filled(ITEM_START, '&')],
  ['entities', filled(ITEM_START, '&amp;')],
  ['unknown entities', filled(ITEM_START, '&a;')],
  ['declared entities', filled('<!DOCTYPE m [', '<!ENTITY a "&a;&a;">')],
  ['numeric characters', filled(ITEM_START, '&#65;')],
  ['CDATA sections', filled(ITEM_START, '<![CDATA[a]]>')],
  ['CDATA sections without an end', filled(ITEM_START, '<![CDATA[')],
  ['the end of a CDATA section, nearly', filled(`${ITEM_START}<![CDATA[`, ']] >')],
  ['processing instructions', filled(START, '<?a b?>')],
  ['comments', filled(START, '<!--a-->')],
  ['dashes of a comment', filled(`${START}<!--`, '- -')],
  ['one text', filled(ITEM_START, 'a')],
  ['line ends', filled(ITEM_START, '\r\n')],
  ['one name', filled(`${START}<`, 'a')],
  ['one attribute', filled(`${START}<a b="`, 'a')],
]

function davCase(shape: string, size: number, document: (size: number) => string | Buffer) {
  return {
    shape,
    size,
    prepare(bytes: number) {
      const body = Buffer.from(document(bytes))
      return () => parseDav(body, 'testing')
    },
  }
}

export const CALDAV: HostileCase[] = [
  ...buildCases('WebDAV', { totalMs: 600 }, [
    ...DOCUMENTS.map(([shape, document]) => davCase(shape, MB / 2, document)),
    davCase('prefixes declared on the way down', 98, prefixed),
    davCase('more prefixes than are allowed', 575, prefixed),
    davCase('another encoding', MB, (size) => Buffer.from(filled(START, SMALL)(size / 2), 'utf16le')),
    davCase('bytes that are not UTF-8', MB, (size) => Buffer.alloc(size, 0xc3)),
    davCase('as many elements as may arrive', 5_900_000, filled(START, WIDE)),
    davCase('more than may arrive', 17 * MB, filled(START, SMALL)),
  ]),
  ...buildCases(
    'autoconfig',
    {},
    DOCUMENTS.map(([shape, document]) => ({
      shape,
      size: 16 * 1024,
      prepare(size: number) {
        const xml = document(size).replace(START, '<clientConfig><emailProvider>').slice(0, size)
        return () => parseImapServer(xml, 'ada@example.com')
      },
    })),
  ),
]
