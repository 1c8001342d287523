import { expect, it } from 'vitest'
import { trackedHtml } from './tracked-html.ts'

const tracked = (html: string) =>
  trackedHtml(html, { pixel: '<PIXEL>', linkUrl: (number) => `https://t.example/${number}` })

it.each([
  [
    '<p><a href="https://a.example/x?y=1&amp;z=2">A</a></p>',
    '<p><a href="https://t.example/1">A</a></p><PIXEL>',
    ['https://a.example/x?y=1&z=2'],
  ],
  [`<A HREF='http://a.example'>A</A>`, `<A HREF='https://t.example/1'>A</A><PIXEL>`, ['http://a.example']],
  [
    '<a class=b href=https://a.example/ >A</a>',
    '<a class=b href="https://t.example/1" >A</a><PIXEL>',
    ['https://a.example/'],
  ],
  [
    '<a\nhref = "\n https://a.exam\tple "\n>A</a>',
    '<a\nhref = "https://t.example/1"\n>A</a><PIXEL>',
    ['https://a.example'],
  ],
  [
    '<map><area href="https://a.example/"></map>',
    '<map><area href="https://t.example/1"></map><PIXEL>',
    ['https://a.example/'],
  ],
  ['<html><body>x</body></html>', '<html><body>x<PIXEL></body></html>', []],
  ['<html>x</html>', '<html>x<PIXEL></html>', []],
  ['', '<PIXEL>', []],
  // Two links to one target share a number, and an attribute that repeats has no effect.
  [
    '<a href="https://a.example/">1</a><a href="https://b.example/" href="https://c.example/">2</a><a href="https://a.example/">3</a>',
    '<a href="https://t.example/1">1</a><a href="https://t.example/2" href="https://c.example/">2</a><a href="https://t.example/1">3</a><PIXEL>',
    ['https://a.example/', 'https://b.example/'],
  ],
])('replaces the links of %j', async (html, expected, links) => {
  expect(await tracked(html)).toEqual({ html: expected, links })
})

it.each([
  '<a href="mailto:ada@example.com">A</a>',
  '<a href="#top">A</a>',
  '<a href="/relative">A</a>',
  '<a href="javascript:alert(1)">A</a>',
  '<a href="">A</a>',
  '<a href>A</a>',
  '<a href="https://[broken">A</a>',
  '<link href="https://a.example/style.css">',
  '<img src="https://a.example/a.png">',
  '<!-- <a href="https://a.example/">A</a> </body> -->',
  '<script>"<a href=\'https://a.example/\'>"</script>',
  '<style>a[href="https://a.example/"] { color: red }</style>',
  `<a href="https://a.example/${'x'.repeat(3000)}">A</a>`,
])('leaves %j as it is', async (html) => {
  expect(await tracked(html)).toEqual({ html: `${html}<PIXEL>`, links: [] })
})

it('tracks at most 500 targets, and a body of some megabytes without holding the event loop', async () => {
  const link = (index: number) => `<p>${'text '.repeat(200)}<a href="https://a.example/${index}">${index}</a></p>`
  const html = Array.from({ length: 3000 }, (_, index) => link(index)).join('')
  let turns = 0
  const counter = setInterval(() => {
    turns += 1
  }, 0)
  const { html: result, links } = await tracked(html)
  clearInterval(counter)
  expect(links).toHaveLength(500)
  expect(result).toContain('href="https://t.example/500"')
  expect(result).toContain('href="https://a.example/2999"')
  expect(turns).toBeGreaterThan(2)
})
