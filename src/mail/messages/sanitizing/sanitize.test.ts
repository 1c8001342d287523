import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserAvailable, launchBrowser } from '../../../../test/kit/browser/browser.ts'
import { XSS_VECTORS } from '../../../../test/kit/messages/html/xss-vectors.ts'
import { random } from '../../../../test/kit/random/random.ts'
import { ATTRIBUTES, ELEMENTS } from './policy.ts'
import { sanitizeFragment, sanitizeHtml } from './sanitize.ts'
import { safeStyle } from './style.ts'

const REL = 'target="_blank" rel="noopener noreferrer nofollow"'

describe('sanitised HTML', () => {
  it.each([
    ['<p>Grüße &amp; <b>mehr</b>', '<p>Grüße &amp; <b>mehr</b></p>'],
    ['<P ALIGN=center CLASS=x ID=y>a<p>b', '<p align="center">a</p><p>b</p>'],
    ['<ul><li>a<li>b<ul><li>c</ul></ul>', '<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul>'],
    [
      '<table><tr><td>a<td>b</div></p><tr><td>c</table>d',
      '<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>d',
    ],
    ['<div><table><tr><td>a</div>b</table>c</div>', '<div><table><tr><td>ab</td></tr></table>c</div>'],
    ['<b><i>a</b>b</i></u>c', '<b><i>a</i></b>bc'],
    ['a<br/>b<hr>c<wbr>', 'a<br>b<hr>c<wbr>'],
    [
      '<html><head><title>t</title><style>p{}</style></head><body bgcolor=#fff>a</body></html>',
      '<div bgcolor="#fff">a</div>',
    ],
    ['a<!-- b -->c<![if !mso]>d<![endif]>e<o:p>f</o:p>', 'acdef'],
    ['<form><label>Name</label><button>Go</button><select><option>x</select></form>', 'NameGo'],
    ['1 < 2 && 3 > 2 "x"', '1 &lt; 2 &amp;&amp; 3 &gt; 2 &quot;x&quot;'],
    ['<a href="https://x.example/?a=1&b=2">x</a>', `<a href="https://x.example/?a=1&amp;b=2" ${REL}>x</a>`],
    ['<a href=" MAILTO:a@x.example" target=_top>x</a>', `<a href="MAILTO:a@x.example" ${REL}>x</a>`],
    ['<a href="ftp://x.example">a</a><a href="#b">b</a>', '<span>a</span><span>b</span>'],
    ['<a href="//www.x.example/a?b">x</a>', `<a href="https://www.x.example/a?b" ${REL}>x</a>`],
    ['<img src=" //cdn.x.example:8443/a.png">', '<img src="https://cdn.x.example:8443/a.png">'],
    ['<a href="/\t/x.exam\nple">x</a>', `<a href="https://x.example" ${REL}>x</a>`],
    ['<a href="tel:+49-(0)30%20123;ext=4">x</a>', `<a href="tel:+49-(0)30%20123;ext=4" ${REL}>x</a>`],
    ['<a href="TEL:1-800-FLOWERS">x</a>', `<a href="TEL:1-800-FLOWERS" ${REL}>x</a>`],
    ['<a href="sms:+123?body=Hi&amp;x=1">x</a>', `<a href="sms:+123?body=Hi&amp;x=1" ${REL}>x</a>`],
    ['<img src="tel:123" alt=x>', '<img alt="x">'],
    ['<img src="cid:logo@x" alt="Logo" width=10>', '<img src="cid:logo@x" alt="Logo" width="10">'],
    ['<img src="http://x.example/a.png">', '<img src="http://x.example/a.png">'],
    ['<img src="data:image/png;base64,iVBORw0KGgo=">', '<img src="data:image/png;base64,iVBORw0KGgo=">'],
    ['<img src="data:image/svg+xml;base64,AAAA" alt=x>', '<img alt="x">'],
    ['<p style="color:red;position:fixed;margin:-9px">x', '<p style="color:red">x</p>'],
    ['', ''],
    // Elements that a browser would close by itself, or ignore.
    ['<li><div>a<li>b</div>c', '<li><div>a</div></li><li>bc</li>'],
    ['<dd><div>a<dt>b</div>c', '<dd><div>a</div></dd><dt>bc</dt>'],
    ['<p><span>a<div>b', '<p><span>a</span></p><div>b</div>'],
    ['<p><b>a<p>b</b>c', '<p><b>a</b></p><p><b>b</b>c</p>'],
    ['<h1>a<h2>b', '<h1>a</h1><h2>b</h2>'],
    ['<td>a<tr>b<caption>c', 'abc'],
    ['<table><table>a', '<table></table><table>a</table>'],
    ['<table><div>a<td><b>b<td>c<caption>d', '<table>a<td><b>b</b></td><td>c</td><caption>d</caption></table>'],
    ['<ruby>a<p><rt>b', '<ruby>a<p></p><rt>b</rt></ruby>'],
    [
      '<a href="https://x.example"><i>a<a href="https://y.example">b',
      `<a href="https://x.example" ${REL}><i>a</i></a><a href="https://y.example" ${REL}><i>b</i></a>`,
    ],
    [
      '<a href="https://x.example"><div>a<a href="https://y.example">b',
      `<a href="https://x.example" ${REL}><div>ab</div></a>`,
    ],
  ])('of %s', async (html, safe) => {
    expect(await sanitizeFragment(html)).toBe(safe)
    expect(await sanitizeFragment(safe)).toBe(safe)
  })

  it.each([
    ['///x.example'],
    ['////x.example'],
    ['/\\x.example'],
    ['\\\\x.example'],
    ['//\\x.example'],
    ['//good.example\\@x.example'],
    ['//user:password@x.example'],
    ['//user@x.example/a'],
    ['//'],
    ['//?x'],
    ['//x .example'],
    ['//x.exam\u202eple'],
    ['//x&#x200b;.example'],
    ['&#x2f;&#92;x.example'],
    ['//[x'],
    ['//x.example:port'],
    ['http:x.example'],
    ['https:/x.example'],
    ['/x.example'],
    ['javascript://x.example/%0aalert(1)'],
    ['tel:*%2306%23'],
    ['tel:*#06#'],
    ['tel:'],
    ['tel:1%0a2'],
    ['tel://1"onclick="alert(1)'],
    ['callto:123'],
  ])('has no address for %s', async (address) => {
    const quoted = address.replaceAll('"', '&quot;')
    expect(await sanitizeFragment(`<a href="${quoted}">a</a><img src="${quoted}">`)).toBe('<span>a</span><img>')
  })

  it.each([
    ['COLOR: #333 ; font-family: "Helvetica Neue", Arial', 'color:#333;font-family:"Helvetica Neue", Arial'],
    ['margin: 0 auto !important; padding:4px 5%', 'margin:0 auto !important;padding:4px 5%'],
    [
      'background: RGBA(1, 2, 3, .5); color: hsl(120 50% 50% / .5)',
      'background:RGBA(1, 2, 3, .5);color:hsl(120 50% 50% / .5)',
    ],
    ['text-indent:-9999px;margin-left:0 -1px;line-height:-1', 'line-height:-1'],
    ['background:url(x);color:\\red;width:calc(1px);font:"a;color:red', 'color:red'],
    ['color;:;color:;;', ''],
  ])('keeps what is harmless of the style %s', (style, safe) => {
    expect(safeStyle(style)).toBe(safe)
  })

  it('drops the tags of deep elements, and nothing of what is long', async () => {
    const deep = await sanitizeFragment(`${'<div>'.repeat(100_000)}x${'</p>'.repeat(100_000)}`)
    expect(deep).toBe(`${'<div>'.repeat(256)}x${'</div>'.repeat(256)}`)
    const long = 'a'.repeat(4_999_999)
    expect(await sanitizeFragment(long)).toBe(long)
  })

  it('is undefined when the text or the result would be too long', async () => {
    expect(await sanitizeHtml('a'.repeat(5_000_001))).toBeUndefined()
    expect(await sanitizeHtml('"'.repeat(4_000_000))).toBeUndefined()
  })
})

describe.skipIf(!browserAvailable())('sanitised HTML in Chromium', () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await launchBrowser()
  })
  afterAll(() => browser?.close())

  it('runs, requests and leaves nothing, however often it is parsed', async () => {
    const next = random()
    const pieces = XSS_VECTORS.flatMap((vector) => vector.split(/(?=[<>"'&])/))
    const mixed = Array.from({ length: 400 }, () =>
      Array.from({ length: 12 }, () => pieces[Math.floor(next() * pieces.length)]).join(''),
    )
    const safe = await Promise.all([...XSS_VECTORS, ...mixed].map((html) => sanitizeHtml(html)))
    expect(await shown(browser, safe as string[])).toEqual([])

    // The check sees what runs, what is requested, and nearly every vector as it was written.
    const running = ['<img src=x onerror=alert(1)>', '<p style="background:url(//evil.example/)">x</p>', '</div><p>x']
    const found = await shown(browser, running, XSS_VECTORS)
    expect(found).toEqual(expect.arrayContaining(['dialog 1', 'request https://evil.example/', 'left its place']))
    expect(found.filter((text) => text.startsWith('written')).length).toBeGreaterThan(XSS_VECTORS.length * 0.8)
  })
})

/** Shows the texts in a page that contains them, and after their elements were parsed again. `written` are only parsed. */
async function shown(browser: Browser, texts: readonly string[], written: readonly string[] = []): Promise<string[]> {
  const context = await browser.newContext()
  const found: string[] = []
  const requested = new Set<string>()
  const body = `<!doctype html><body>${texts.map((text) => `<div class="shown">${text}</div><i class="after"></i>`).join('')}</body>`
  try {
    const page = await context.newPage()
    page.on('dialog', (dialog) => {
      found.push(`dialog ${dialog.message()}`)
      void dialog.dismiss()
    })
    await page.route('**', (route) => {
      const url = route.request().url()
      if (url === PAGE) return route.fulfill({ contentType: 'text/html; charset=utf-8', body })
      // An image of the message itself, which the application replaces.
      if (!url.startsWith('cid:')) requested.add(url)
      return route.abort()
    })
    await page.goto(PAGE)
    found.push(...(await page.evaluate<string[]>(`(${CHECK})(${JSON.stringify(written)})`)))
    // Images of the web stay, and a mixture may contain one.
    for (const url of await page.evaluate<string[]>(IMAGES)) requested.delete(url)
    return [...found, ...[...requested].map((url) => `request ${url}`)]
  } finally {
    await context.close()
  }
}

const PAGE = 'https://application.example/'

const IMAGES = `[...document.querySelectorAll('.shown img')].flatMap((image) =>
  (/^https?:[/][/]/i.test(image.getAttribute('src')) ? [image.src] : []))`

const CHECK = `async (written) => {
  const elements = new Set(${JSON.stringify([...ELEMENTS])})
  const attributes = new Set(${JSON.stringify([...ATTRIBUTES, 'href', 'src', 'style', 'target', 'rel'])})
  const SOURCE = /^(https?:[/][/]|cid:|data:image[/](png|gif|jpe?g|webp|bmp|avif);)/i
  // A form may hide members of itself behind its fields.
  const { getAttributeNames, getAttribute } = Element.prototype
  const attributesOf = (element) => getAttributeNames.call(element).map((name) => [name, getAttribute.call(element, name)])
  const faultsOf = (root) => [...root.querySelectorAll('*')].flatMap((element) => [
    ...(elements.has(element.localName) && element.namespaceURI.endsWith('xhtml') ? [] : ['element ' + element.localName]),
    ...attributesOf(element).flatMap(([name, value]) => {
      const isFaulty =
        !attributes.has(name) ||
        (name === 'href' && !['https:', 'http:', 'mailto:', 'tel:', 'sms:'].includes(element.protocol)) ||
        (name === 'src' && !SOURCE.test(value)) ||
        (name === 'style' && /url|position|expression/i.test(element.style.cssText))
      return isFaulty ? [name + '=' + value] : []
    }),
  ])
  const found = []
  const boxes = [...document.querySelectorAll('.shown')]
  const isInPlace = (box) => box.parentElement === document.body && box.nextElementSibling?.className === 'after'
  if (!boxes.every(isInPlace) || document.body.children.length !== 2 * boxes.length) found.push('left its place')
  for (const box of boxes) {
    found.push(...faultsOf(box))
    for (let times = 0; times < 2; times += 1) {
      box.innerHTML = box.innerHTML + ''
      found.push(...faultsOf(box).map((fault) => 'again ' + fault))
    }
  }
  for (const text of written) {
    const [fault] = faultsOf(new DOMParser().parseFromString('<body>' + text, 'text/html'))
      .filter((fault) => !/^element (html|head|body)$/.test(fault))
    if (fault !== undefined) found.push('written ' + fault)
  }
  await Promise.all([...document.images].map((image) => image.complete || new Promise((done) => (image.onload = image.onerror = done))))
  return found
}`
