import { truncateText } from '../../lib/text.ts'

/** The words of an HTML body, for search and snippets; never to be shown as HTML. Linear in its length. */
export function htmlToText(html: string): string {
  return decodeEntities(
    withoutElements(html, ['style', 'script', 'head', 'title'])
      .replace(/<!--[\s\S]*?(?:-->|$)/g, ' ')
      .replace(/<\/?(p|div|br|tr|td|th|li|ul|ol|table|h[1-6]|blockquote|hr|section|article)\b[^<>]*>/gi, '\n')
      .replace(/<[^<>]*>/g, '')
      // A tag that was cut off at the end of what was fetched.
      .replace(/<(?:[a-z/!][^<>]*)?$/i, ''),
  )
}

/** One line of at most `limit` characters, as lists show it. */
export function oneLine(text: string, limit: number): string {
  const line = text
    .slice(0, limit * 4)
    .replace(INVISIBLE, ' ')
    .trim()
  return truncateText(line, limit)
}

/** White space, and what mail programs pad the preview line with. */
const INVISIBLE = /(?:\s|\u00ad|\u034f|[\u200b-\u200f]|\u2060|\ufeff)+/g

function withoutElements(html: string, names: readonly string[]): string {
  let rest = html
  for (const name of names) {
    const parts: string[] = []
    const open = new RegExp(`<${name}\\b`, 'gi')
    const close = new RegExp(`</${name}\\b[^<>]*>`, 'gi')
    let from = 0
    for (;;) {
      open.lastIndex = from
      const start = open.exec(rest)
      if (start === null) break
      parts.push(rest.slice(from, start.index))
      close.lastIndex = start.index
      from = close.exec(rest) === null ? rest.length : close.lastIndex
      if (from === rest.length) break
    }
    rest = parts.join(' ') + rest.slice(from)
  }
  return rest
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', shy: '', zwnj: '', zwj: '', ensp: ' ', emsp: ' ' },
  ...{ copy: '©', reg: '®', trade: '™', euro: '€', pound: '£', yen: '¥', cent: '¢', sect: '§', deg: '°', para: '¶' },
  ...{ hellip: '…', mdash: '—', ndash: '–', bull: '•', middot: '·', laquo: '«', raquo: '»', times: '×', rarr: '→' },
  ...{ lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', sbquo: '‚', bdquo: '„', szlig: 'ß', larr: '←', plusmn: '±' },
  ...{ auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', agrave: 'à', aacute: 'á', acirc: 'â' },
  ...{ egrave: 'è', eacute: 'é', ecirc: 'ê', euml: 'ë', igrave: 'ì', iacute: 'í', icirc: 'î', iuml: 'ï', ntilde: 'ñ' },
  ...{
    ograve: 'ò',
    oacute: 'ó',
    ocirc: 'ô',
    ugrave: 'ù',
    uacute: 'ú',
    ucirc: 'û',
    ccedil: 'ç',
    aring: 'å',
    oslash: 'ø',
  },
  ...{
    aelig: 'æ',
    Agrave: 'À',
    Eacute: 'É',
    Ccedil: 'Ç',
    atilde: 'ã',
    otilde: 'õ',
    Ntilde: 'Ñ',
    Aring: 'Å',
    Oslash: 'Ø',
  },
}

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));?/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ''
  })
}
