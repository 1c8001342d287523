import iconv from 'iconv-lite'
import { LRUCache } from 'lru-cache'
import { detached } from '../../../../platform/formats/text.ts'
import { decodeHz } from './hz.ts'
import { decodeIso2022 } from './iso-2022.ts'

/** How the bytes of a charset are read. */
interface Reader {
  /** Decodes; bytes that mean nothing become U+FFFD. */
  decode(bytes: Buffer): string
  /**
   * `single`: one byte a character, so that valid UTF-8 is no coincidence. `multi`: several. `ascii`: escapes within ASCII. `wide`: units of
   * two or four bytes.
   */
  form: 'single' | 'multi' | 'ascii' | 'wide'
  /** Text in pieces keeps a state from one character to the next, so that pieces are decoded one by one. */
  isStateful: boolean
}

/** Looking up a label costs microseconds, most of all one that nobody knows, and most messages have one of a few. */
const readers = new LRUCache<string, { reader: Reader | undefined }>({ max: 500 })

/** Returns undefined for a label that nobody knows, or none. */
export function findReader(label = ''): Reader | undefined {
  const key = label.slice(0, MAX_LABEL)
  const cached = readers.get(key)
  if (cached !== undefined) return cached.reader
  const name = canonicalName(key)
  const reader = name === '' ? undefined : (readerNamed(name) ?? readerNamed(name.replace(PREFIX, '')))
  readers.set(detached(key), { reader })
  return reader
}

/** Labels of IANA's table begin with `cs`, private ones with `x-`. */
const PREFIX = /^(?:x|cs|charset)(?=.{3})/

function readerNamed(name: string): Reader | undefined {
  if (ISO_2022.test(name)) return { decode: (bytes) => decodeIso2022(bytes, name), form: 'ascii', isStateful: true }
  if (name === 'hzgb2312' || name === 'hz') return { decode: decodeHz, form: 'ascii', isStateful: true }
  if (name.endsWith('utf7')) return iconvReader('utf-7', 'ascii')
  if (name === 'utf7imap') return iconvReader('utf-7-imap', 'ascii')
  if (UTF_8.test(name)) return { decode: (bytes) => bytes.toString('utf8'), form: 'single', isStateful: false }
  const wide = WIDE.get(name)
  if (wide !== undefined) return iconvReader(wide, 'wide')
  const multi = MULTI_BYTE.get(name)
  if (multi !== undefined) return iconvReader(multi, 'multi')
  const single = SINGLE_BYTE.get(name) ?? codePage(name) ?? name
  return iconv.encodingExists(single) && !BYTES.has(single) ? iconvReader(single, 'single') : undefined
}

function iconvReader(charset: string, form: Reader['form']): Reader {
  return { decode: (bytes) => iconv.decode(bytes, charset), form, isStateful: form === 'ascii' || form === 'wide' }
}

const MAX_LABEL = 60

/** In lower case, with letters and digits only: labels come in quotes, with spaces, comments and a language (`utf-8*en`, RFC 2231). */
function canonicalName(label: string): string {
  const [name = ''] = label.split(/[*;,(]|:\d{4}/)
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

const UTF_8 = /^(?:unicode11|unicode20)?utf8(?:mb[34]|n|mac|sig|bom)?$|^cp65001$|^65001$/
const ISO_2022 = /^iso2022(?:jp|kr|cn)|^(?:cp)?5022[0-2]$|^jis7?$|^jis0201$/
/** Encodings of iconv-lite that are no charsets. */
const BYTES = new Set(['binary', 'base64', 'hex', 'internal', 'ascii'])

const WIDE = new Map([
  ['utf16', 'utf-16be'],
  ['utf16be', 'utf-16be'],
  ['utf16le', 'utf-16le'],
  ['unicode', 'utf-16le'],
  ['ucs2', 'utf-16be'],
  ['iso10646ucs2', 'utf-16be'],
  ['unicodefffe', 'utf-16be'],
  ['utf32', 'utf-32be'],
  ['utf32be', 'utf-32be'],
  ['utf32le', 'utf-32le'],
  ['ucs4', 'utf-32be'],
  ['iso10646ucs4', 'utf-32be'],
])

const MULTI_BYTE = new Map(
  (
    [
      [
        'cp949',
        'cp949 ms949 windows949 uhc ksc56011987 ksc56011989 ksc5601 ksc56011992 korean euckr isoir149 ksc5636 kscode 949',
      ],
      ['shiftjis', 'shiftjis sjis mskanji windows31j cp932 ms932 windows932 cp943 ibm943 932'],
      ['eucjp', 'eucjp eucjpms eucjpwin cp51932 ujis eucpkdfmtjapanese extendedunixcodepackedformatforjapanese'],
      [
        'gb18030',
        'gb18030 gb180302000 gb180302005 gb180302022 gbk gb2312 gb23121980 gb231280 euccn cp936 ms936 windows936 chinese isoir58 cp54936 936',
      ],
      ['big5-hkscs', 'big5 xbig5 big5hkscs big5eten cnbig5 cp950 ms950 windows950 cp951 950'],
    ] as const
  ).flatMap(([charset, names]) => names.split(' ').map((name) => [name, charset] as const)),
)

const SINGLE_BYTE = new Map([
  ...[
    'usascii',
    'ascii',
    'ansix341968',
    'ansix341986',
    'iso646us',
    'iso88591',
    'latin1',
    'l1',
    'isolatin1',
    'isoir100',
    'ibm819',
    'cp819',
    'ansi',
    'iso885911987',
    'isoir6',
    'us',
    '8859',
    'iso8859',
  ].map((name) => [name, 'windows-1252'] as const),
  ['iso88599', 'windows-1254'],
  ['latin5', 'windows-1254'],
  ['l5', 'windows-1254'],
  ['csisolatin5', 'windows-1254'],
  ['isoir148', 'windows-1254'],
  ['csisolatin9', 'iso-8859-15'],
  ['iso885911', 'windows-874'],
  ['tis620', 'windows-874'],
  ['iso88598i', 'iso-8859-8'],
  ['iso88598e', 'iso-8859-8'],
  ['iso88596i', 'iso-8859-6'],
  ['iso88596e', 'iso-8859-6'],
  ['logical', 'iso-8859-8'],
  ['visual', 'iso-8859-8'],
  ['hebrew', 'iso-8859-8'],
  ['arabic', 'iso-8859-6'],
  ['greek', 'iso-8859-7'],
  ['suneugreek', 'iso-8859-7'],
  ['cyrillic', 'iso-8859-5'],
  ['koi', 'koi8-r'],
  ['koi8', 'koi8-r'],
  ['mac', 'macintosh'],
  ['macroman', 'macroman'],
  ['maccyrillic', 'maccyrillic'],
  ['macukrainian', 'macukraine'],
  ['macce', 'maccenteuro'],
  ['cp10000', 'macroman'],
  ['cp10006', 'macgreek'],
  ['cp10007', 'maccyrillic'],
  ['cp10029', 'maccenteuro'],
  ['cp10079', 'maciceland'],
  ['cp10081', 'macturkish'],
  ['hproman8', 'hproman8'],
  ['roman8', 'hproman8'],
])

/** `windows1251`, `win1251`, `cp1251`, `ms1251`, `dos866`, `ibm00858` and bare numbers name a code page. */
function codePage(name: string): string | undefined {
  const digits = /^(?:windows|win|wincp|cp|ms|dos|ibm|oem|codepage|pc)?0*(\d{3,5})$/.exec(name)?.[1]
  if (digits === undefined) return undefined
  if (/^2859\d{1,2}$/.test(digits)) return iso8859(digits.slice(4))
  const special = MULTI_BYTE.get(digits) ?? CODE_PAGES.get(digits)
  return special ?? `cp${digits}`
}

function iso8859(part: string): string {
  return SINGLE_BYTE.get(`iso8859${part}`) ?? `iso-8859-${part}`
}

const CODE_PAGES = new Map([
  ['20127', 'windows-1252'],
  ['20866', 'koi8-r'],
  ['21866', 'koi8-u'],
  ['51949', 'cp949'],
])
