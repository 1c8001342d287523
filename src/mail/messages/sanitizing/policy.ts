const set = (names: string) => new Set(names.split(' '))

/** Elements that stay. None of them runs, loads or submits anything by itself, except `img`; no text of them is parsed in another way. */
export const ELEMENTS: ReadonlySet<string> = set(
  'a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del dfn dir div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p pre q rp rt ruby s samp section small span strike strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr',
)

export const VOID_ELEMENTS: ReadonlySet<string> = set('br col hr img wbr')

/** Elements that go with their content. Of all others only the tags go. */
export const SKIPPED_ELEMENTS: ReadonlySet<string> = set(
  'script style title textarea select datalist iframe noembed noframes noscript template svg math',
)

/** Attributes that stay as they are. None of them is an address, a name, a style or an event handler. */
export const ATTRIBUTES: ReadonlySet<string> = set(
  'abbr align alt bgcolor border cellpadding cellspacing clear color colspan dir face height hspace lang noshade nowrap rowspan scope size span start title type valign vspace width',
)

const TABLE_PARTS = set('table caption colgroup tbody tfoot thead tr td th')
const TABLE = ['table']
const CELLS = ['table', 'caption', 'td', 'th']

/** The elements that an end tag cannot close anything around: a stray one in a cell must not end its table. */
export function barriers(endTag: string): readonly string[] {
  return TABLE_PARTS.has(endTag) ? TABLE : CELLS
}

/**
 * The target of a link, as a browser reads it. Undefined unless it is a complete address of the web, of mail or of a telephone. What
 * begins with `//` takes the scheme of the page in a browser; here it gets https.
 */
export function linkTarget(text: string): string | undefined {
  const url = addressIn(text)
  if (url === undefined) return undefined
  return /^(?:https?:\/\/|mailto:|sms:)/i.test(url) || TELEPHONE.test(url) ? url : undefined
}

/** The source of an image: a web address, another part of the message (`cid:`), or the data of a raster image. */
export function imageSource(text: string): string | undefined {
  if (RASTER_DATA.test(text)) return text
  const url = addressIn(text)
  return url !== undefined && /^(?:https?:\/\/|cid:)/i.test(url) ? url : undefined
}

/** `test` is linear: each part accepts characters that the next one does not. */
const RASTER_DATA = /^\s*data:image\/(?:png|gif|jpe?g|webp|bmp|avif)\s*;\s*base64\s*,[a-z0-9+/=\s]*$/i

/** Without `*` and `#`, which make codes that telephones run. Escaped are the space and what people write between digits. */
const TELEPHONE = /^tel:(?:[\w+\-.(),;= ]|%(?:20|28|29|2b|2d|2e))+$/i

/** The complete address of the text as one line. Undefined for any other text. */
function addressIn(text: string): string | undefined {
  // Browsers drop these, wherever they are.
  const url = text.replace(/[\t\n\r]/g, '').trim()
  const complete = PROTOCOL_RELATIVE.test(url) ? `https:${url}` : url
  return !HIDDEN.test(complete) && URL.canParse(complete) ? complete : undefined
}

/**
 * A host after two slashes. Browsers also take more slashes and backslashes for the beginning of a host; no program writes them. A name
 * before an `@` would hide where the link leads.
 */
const PROTOCOL_RELATIVE = /^\/\/[^/\\?#@\s]+(?:[/?#]|$)/

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/
