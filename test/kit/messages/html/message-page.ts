import type { Page } from 'playwright-core'

/**
 * A page that shows messages between elements of its own: one in a slot with a given height, one in a slot that is as high as the
 * message. Its style sheet also moves elements of the names that messages have.
 */
function messagePage(head: string, slotStyle: string): string {
  return `<!doctype html><html lang="en"><head>${head}<style nonce="page">
body { margin: 0; font: 16px/1.5 sans-serif; height: 760px }
header, footer, aside { background: #dde }
header { height: 60px }
.row { display: flex; align-items: flex-start; gap: 8px; padding: 8px 0 }
main { flex: 1 }
aside { width: 120px; height: 80px }
main > p { margin: 0 }
.slot { ${slotStyle} }
.fixed { height: 150px }
h1 { position: sticky; top: 0; z-index: 9 }
main li { position: absolute; left: -50px }
main font { position: fixed; top: 0 }
</style></head><body>
<header>Mailbox</header>
<div class="row"><aside>Folders</aside><main><p>Before</p><div class="fixed slot"></div><p>After</p></main><aside>Actions</aside></div>
<div class="row"><aside>Folders</aside><main><p>Before</p><div class="growing slot"></div><p>After</p></main><aside>Actions</aside></div>
<footer>Status</footer>
</body></html>`
}

const PAGE = messagePage('', '')
/** Style attributes have no effect here, so the page contains its slots. */
const PAGE_WITHOUT_STYLE_ATTRIBUTES = messagePage(
  `<meta http-equiv="Content-Security-Policy" content="style-src 'nonce-page'">`,
  'contain: inline-size layout paint style; overflow: auto',
)

export interface Shown {
  html: string
  /** Outside of the slots. */
  faults: string[]
}

/**
 * Shows each of the texts in a page. Returns those that affect the page around them, with what they do. `allowsStyles`: whether the
 * policy of the page allows style attributes.
 */
export async function showMessages(
  page: Page,
  texts: readonly string[],
  { allowsStyles = true } = {},
): Promise<Shown[]> {
  await page.setContent(allowsStyles ? PAGE : PAGE_WITHOUT_STYLE_ATTRIBUTES)
  return page.evaluate<Shown[]>(`(${SHOW})(${JSON.stringify(texts)})`)
}

/** A picture of the page without what is inside of the slots. */
export function pictureAround(page: Page): Promise<Buffer> {
  return page.screenshot({ mask: [page.locator('.slot')], animations: 'disabled', caret: 'hide' })
}

const SHOW = `(texts) => {
  const STEP = 31
  const [fixed, growing] = document.querySelectorAll('.slot')
  const after = growing.nextElementSibling
  const below = [after, document.querySelector('footer')]
  const own = [...document.body.querySelectorAll('*')]
  const box = (element) => element.getBoundingClientRect()
  const contains = ({ left, right, top, bottom }, x, y) => x >= left && x < right && y >= top && y < bottom
  const show = (html) => {
    fixed.innerHTML = html
    growing.innerHTML = html
  }
  /** The sides of the element that no message may change: what is below of the growing slot may go down, what is around it may grow. */
  const place = (element) => {
    const { left, width, top, height } = box(element)
    if (element.contains(growing)) return [left, width, top]
    return below.includes(element) ? [left, width, height] : [left, width, top, height]
  }
  /** Finds the element at each point outside of the slots. */
  const hits = () => {
    const points = []
    for (let y = 1; y < innerHeight; y += STEP)
      for (let x = 1; x < innerWidth; x += STEP)
        if (!contains(box(fixed), x, y) && !contains(box(growing), x, y))
          points.push({ x, y, element: document.elementFromPoint(x, y) })
    return points
  }
  const isForeign = (element) => [fixed, growing].some((slot) => slot !== element && slot.contains(element))
  show('')
  const places = own.map((element) => place(element).join())
  const elements = new Map(hits().map(({ x, y, element }) => [x + ',' + y, element]))
  const top = box(growing).top
  const faults = () => [
    ...own.filter((element, at) => place(element).join() !== places[at]).map(({ localName }) => 'moves the ' + localName),
    ...(Math.abs(box(after).top - box(growing).bottom) < 0.5 ? [] : ['leaves the growing slot']),
    ...(document.documentElement.scrollWidth > innerWidth ? ['widens the page'] : []),
    ...hits()
      .filter(({ x, y, element }) => isForeign(element) || (y < top && element !== elements.get(x + ',' + y)))
      .map(({ x, y }) => 'receives the click at ' + x + ', ' + y),
  ]
  const found = []
  for (const html of texts) {
    show(html)
    const all = faults()
    if (all.length > 0) found.push({ html, faults: all.slice(0, 5) })
  }
  show('')
  return found
}`
