import { expect, it } from 'vitest'
import { pathReader, resolvePath } from './hrefs.ts'

const HREFS = [
  '/a%40b/work/1.ics',
  '/a@b/work/2.ics',
  '/a%40b/work/x%40y.ics',
  '/a%40b/work/x%2Fy.ics',
  '/a%40b/work/%C3%A4.ics',
  '/a%40b/work/',
  '/a%40b/work',
  '/',
  '',
  '.',
  '..',
  '1.ics',
  'work/1.ics',
  '../1.ics',
  '/a%40b/work/..',
  '/a%40b/work/.',
  '/a/../b/1.ics',
  '//other.example/1.ics',
  'https://dav.example/a/1.ics',
  'http://dav.example:8080/a%40b/work/1.ics',
  'https://p42.dav.example/a%40b/work/1.ics',
  'https://other.example/a/1.ics',
  '/a/1.ics?b=/c',
  '/a/?b=/c',
  '/a/#/c',
  '/a\\b/1.ics',
  'javascript:/a/1',
  'http:1',
  '/a/%/1.ics',
  '/a/1%.ics',
  '/a b/c d.ics',
  `/a/${'x'.repeat(2100)}`,
  `/${'x'.repeat(2100)}/1.ics`,
]

it('reads paths as the function for single ones does', () => {
  const base = new URL('https://dav.example/a%40b/work/')
  const read = pathReader(base)
  for (const href of [...HREFS, ...HREFS.toReversed()])
    expect([href, read(href)]).toEqual([href, resolvePath(href, base)])
})

it('takes the path of hosts beside the server and of other schemes, and nothing of other hosts', () => {
  const base = new URL('https://caldav.example.com/work/')
  const paths = [
    'http://caldav.example.com:8080/work/1.ics',
    'https://p42-caldav.example.com/work/1.ics',
    'https://example.org/work/1.ics',
    'https://caldav.example.com.evil.example/work/1.ics',
  ].map((href) => resolvePath(href, base))
  expect(paths).toEqual(['/work/1.ics', '/work/1.ics', undefined, undefined])
  expect(resolvePath('http://127.0.0.2/work/1.ics', new URL('http://127.0.0.1/work/'))).toBeUndefined()
})
