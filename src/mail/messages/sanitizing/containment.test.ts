import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../../../../test/kit/browser/browser.ts'
import { closing } from '../../../../test/kit/closing.ts'
import { hostileHtml } from '../../../../test/kit/messages/html/hostile-html.ts'
import { pictureAround, showMessages } from '../../../../test/kit/messages/html/message-page.ts'
import { COVERING_VECTORS, XSS_VECTORS } from '../../../../test/kit/messages/html/xss-vectors.ts'
import { fc } from '../../../../test/kit/random/random.ts'
import { containHtml } from './containment.ts'
import { sanitizeFragment, sanitizeHtml } from './sanitize.ts'

describe.skipIf(!browserAvailable())('a sanitised message in a page, in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())
  // A policy of an earlier content would stay in force.
  const openPage = async (): Promise<Page> => closing(await browser.newPage({ viewport: { width: 900, height: 760 } }))

  it('cannot cover, move or resize anything around it', async () => {
    const generated = fc.sample(hostileHtml, 60)
    const sanitized = await Promise.all([...COVERING_VECTORS, ...generated].map(sanitizeHtml))
    // Even styles that the sanitiser leaves out are contained.
    const unsanitized = [...COVERING_VECTORS, ...generated].map(containHtml)
    expect(await showMessages(await openPage(), [...sanitized.map(String), ...unsanitized])).toEqual([])
  })

  it('cannot do so either where a policy turns its styles off and the page contains its slot', async () => {
    const texts = [...COVERING_VECTORS, ...fc.sample(hostileHtml, 40)]
    const safe = (await Promise.all(texts.map(sanitizeHtml))).map(String)
    const page = await openPage()
    expect(await showMessages(page, safe, { allowsStyles: false })).toEqual([])
    await page.evaluate(`document.querySelector('.fixed').innerHTML = ${JSON.stringify(safe[0])}`)
    expect(await page.evaluate(`getComputedStyle(document.querySelector('section')).contain`)).toBe('none')
  })

  it('paints nothing around it', async () => {
    const page = await openPage()
    await showMessages(page, [''])
    const empty = await pictureAround(page)
    const generated = fc.sample(hostileHtml, 12)
    for (const html of [...COVERING_VECTORS, ...generated]) {
      const safe = await sanitizeHtml(html)
      await page.evaluate(`document.querySelector('.fixed').innerHTML = ${JSON.stringify(safe)}`)
      expect(empty.equals(await pictureAround(page)), html).toBe(true)
    }
  })

  it('has a width of its own where the page gives none, and is below what has a z-index of 1', async () => {
    const safe = await sanitizeHtml('<table width=5000 height=5000 style="opacity:.9"><td>x</table>')
    const page = await openPage()
    await page.setContent(`<!doctype html><body style="margin:0;height:9000px">
<header style="position:sticky;top:0;height:40px;z-index:1">Mailbox</header><div style="float:left">${safe}</div>`)
    await page.evaluate('scrollTo(0, 500)')
    const found = await page.evaluate(
      `[document.querySelector('section').offsetWidth, document.elementFromPoint(9, 9).localName]`,
    )
    expect(found).toEqual([320, 'header'])
  })

  it.each(AROUND)('stays in its element in a page that a server wrote: %s…%s', async (before, after) => {
    const texts = [...XSS_VECTORS, ...COVERING_VECTORS, ...NESTED, ...fc.sample(hostileHtml, 60)]
    const safe = (await Promise.all(texts.map(sanitizeHtml))).map(String)
    const page = await openPage()
    const written = safe.map((html) => `<div class="case">${before}<div class="slot">${html}</div>${after}</div>`)
    await page.setContent(`<!doctype html><body><main>${written.join('')}</main>`)
    const misplaced = await page.evaluate<string[]>(`(${MISPLACED})(${JSON.stringify(safe)})`)
    expect(misplaced).toEqual([])
  })

  it('would cover the page without its element', async () => {
    const fragments = (await Promise.all(COVERING_VECTORS.map(sanitizeFragment))).map(String)
    const page = await openPage()
    const found = await showMessages(page, fragments)
    expect(found.length).toBeGreaterThan(COVERING_VECTORS.length / 2)
    expect(found.map(({ html }) => html)).toEqual(expect.arrayContaining(fragments.slice(0, 4)))
    const empty = await pictureAround(page)
    await page.evaluate(`document.querySelector('.fixed').innerHTML = ${JSON.stringify(fragments[2])}`)
    expect(empty.equals(await pictureAround(page))).toBe(false)
  })
})

/** Elements that a page may put messages into. */
const AROUND = [
  ['', ''],
  ['<ul><li>', '</li></ul>'],
  ['<dl><dd>', '</dd></dl>'],
  ['<table><tr><td>', '</td></tr></table>'],
  ['<blockquote><b>', '</b></blockquote>'],
] as const

/** HTML whose elements a browser closes or ignores in another way than they are written. */
const NESTED = [
  '<li><div><li>x</div></li>y',
  '<dd><div><dt>x</div></dd>y',
  '<ul><li><b><li>x</b></li></ul>y',
  '<li>x',
  '<td>x</td></tr></table>y',
  '<table><table></table></table>y',
  '<table><tr><td><table><table></table></td></table></table>y',
  '<table><div><tr><td><p></div>x</table>y',
  '<caption>x</caption><col><tr><th>y',
  '<h1><div><h2>x</h1></h2></div>y',
  '<p><b><div>x</p></b></div>y',
  '<b><b><b><b><b><p>x</b></p>y',
  '<a href="https://a.example"><div><a href="https://b.example">x</a></div></a>y',
  '<ruby><p><rt>x</p></ruby>y',
  '<font><table><b><tr><td></font>x</b></table>y',
]

/** The messages that are not exactly one element in their slot, or another one than when they are put there by a script. */
const MISPLACED = `(texts) => {
  const cases = [...document.querySelector('main').children]
  const slots = [...document.querySelectorAll('.slot')]
  const parsed = (html) => {
    const slot = document.createElement('div')
    slot.innerHTML = html
    return slot.innerHTML
  }
  const isPlaced = (html, at) =>
    cases[at]?.className === 'case' && cases[at].contains(slots[at]) && slots[at].children.length === 1 && slots[at].innerHTML === parsed(html)
  return cases.length === texts.length ? texts.filter((html, at) => !isPlaced(html, at)) : ['left the page']
}`
