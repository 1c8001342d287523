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

/** The target of a link, as a browser reads it. Undefined unless it is a complete web or mail address. */
export function linkTarget(text: string): string | undefined {
  return addressOf(text, /^(?:https?:\/\/|mailto:)/i)
}

/** The source of an image: a web address, another part of the message (`cid:`), or the data of a raster image. */
export function imageSource(text: string): string | undefined {
  return RASTER_DATA.test(text) ? text : addressOf(text, /^(?:https?:\/\/|cid:)/i)
}

/** `test` is linear: each part accepts characters that the next one does not. */
const RASTER_DATA = /^\s*data:image\/(?:png|gif|jpe?g|webp|bmp|avif)\s*;\s*base64\s*,[a-z0-9+/=\s]*$/i

function addressOf(text: string, allowed: RegExp): string | undefined {
  // Browsers drop these, wherever they are.
  const url = text.replace(/[\t\n\r]/g, '').trim()
  return allowed.test(url) && !HIDDEN.test(url) && URL.canParse(url) ? url : undefined
}

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/
