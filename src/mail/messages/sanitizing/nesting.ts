import type { OpenElements } from './open-elements.ts'
import { VOID_ELEMENTS } from './policy.ts'

const set = (names: string) => new Set(names.split(' '))

/** Browsers close an open `p` before these begin. */
const CLOSES_P = set(
  'address article aside blockquote center dd dir div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table ul',
)
const HEADINGS = set('h1 h2 h3 h4 h5 h6')
/** An item closes the item before it. */
const ITEMS: Readonly<Record<string, readonly string[]>> = { li: ['li'], dd: ['dd', 'dt'], dt: ['dd', 'dt'] }
/** Closed before the next part of a `ruby` when they are innermost. */
const CLOSED_BY_RUBY_PART = set('dd dt li p rp rt')
const PHRASING = set(
  'a abbr acronym b bdi bdo big cite code del dfn em font i ins kbd mark q rp rt ruby s samp small span strike strong sub sup time tt u var',
)
const PASSED_BY_ITEM = new Set([...PHRASING, 'address', 'div', 'p'])

/** The elements that may directly contain each part of a table. A browser adds the elements between. */
const TABLE_PARTS: Readonly<Record<string, readonly string[]>> = {
  caption: ['table'],
  colgroup: ['table'],
  col: ['colgroup', 'table'],
  thead: ['table'],
  tbody: ['table'],
  tfoot: ['table'],
  tr: ['tbody', 'tfoot', 'thead', 'table'],
  td: ['tr', 'tbody', 'tfoot', 'thead', 'table'],
  th: ['tr', 'tbody', 'tfoot', 'thead', 'table'],
}
/** Text and elements without an end tag that occur directly inside of these are moved in front of the table by a browser. */
const BETWEEN_CELLS = set('table colgroup thead tbody tfoot tr')
/** Elements inside of these do not affect those outside. */
const CELLS = ['caption', 'td', 'th']
const TABLE = ['table']
const P = ['p']
const RUBY = ['ruby']
const A = ['a']

/** Elements that a browser begins again after it had to close them for another one. */
const FORMATTING = set('a b big code em font i s small strike strong tt u')

/**
 * How many of the open elements stay open when this one begins: the others are closed before. Undefined when it cannot begin here.
 *
 * The rules are those by which a browser builds a tree (HTML, 13.2.6.4), for the elements in `policy.ts`. A browser that closes an
 * element which is still open here would take the end tag that follows for one of the page around the message.
 */
export function depthBefore(name: string, open: OpenElements): number | undefined {
  const contexts = TABLE_PARTS[name]
  if (contexts !== undefined) {
    const at = open.last(contexts)
    return at === -1 ? undefined : at + 1
  }
  if (!BETWEEN_CELLS.has(open.at(open.depth - 1))) return depthInFlow(name, open)
  if (VOID_ELEMENTS.has(name)) return open.depth
  // A table between the cells of another one ends that one.
  return name === 'table' ? open.last(TABLE) : undefined
}

function depthInFlow(name: string, open: OpenElements): number | undefined {
  const start = open.last(CELLS) + 1
  let depth = open.depth
  const closeFrom = (at: number) => {
    if (at >= start) depth = Math.min(depth, at)
  }
  const items = ITEMS[name]
  if (items !== undefined && isDirectly(open.last(items), open, PASSED_BY_ITEM)) closeFrom(open.last(items))
  if (CLOSES_P.has(name)) closeFrom(open.last(P))
  if (HEADINGS.has(name) && HEADINGS.has(open.at(depth - 1))) closeFrom(depth - 1)
  if ((name === 'rt' || name === 'rp') && open.last(RUBY) >= start) {
    while (CLOSED_BY_RUBY_PART.has(open.at(depth - 1))) depth -= 1
  }
  if (name === 'a' && open.last(A) >= start) {
    // A browser would split the blocks inside of the first link.
    if (!isDirectly(open.last(A), open, PHRASING)) return undefined
    closeFrom(open.last(A))
  }
  return depth
}

/** Only elements of this set are open inside of the one at `outer`. */
function isDirectly(outer: number, open: OpenElements, passed: ReadonlySet<string>): boolean {
  let at = open.depth - 1
  while (at > outer && passed.has(open.at(at))) at -= 1
  return at === outer
}

/** Whether a browser begins `closed` again inside of the element that it was closed for. */
export function beginsAgain(closed: string, closedFor: string): boolean {
  const isTable = closedFor === 'table' || TABLE_PARTS[closedFor] !== undefined
  return !isTable && FORMATTING.has(closed) && closed !== closedFor
}
