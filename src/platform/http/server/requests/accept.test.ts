import { expect, it } from 'vitest'
import { namesHtml, preferredEncoding, wantsHtml } from './accept.ts'

it.each([
  [undefined, true],
  ['', true],
  ['*/*', true],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', true],
  ['text/*', true],
  ['TEXT/HTML', true],
  ['application/json', false],
  ['application/problem+json', false],
  ['application/json, text/plain, */*', false],
  ['application/json;q=0.5, text/html', true],
  ['text/html;q=0.4, application/json', false],
  ['text/html;q=0, */*', false],
  ['image/png', false],
])('Accept %s prefers a page: %s', (accept, page) => {
  expect(wantsHtml(accept)).toBe(page)
})

it.each([
  [undefined, false],
  ['*/*', false],
  ['text/*', false],
  ['text/html, */*;q=0.8', true],
  ['application/json, text/html;q=0.9', false],
])('Accept %s asks for a page by name: %s', (accept, page) => {
  expect(namesHtml(accept)).toBe(page)
})

it.each([
  [undefined, undefined],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['br;q=0.5, GZIP', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['identity', undefined],
])('Accept-Encoding %s prefers %s', (acceptEncoding, encoding) => {
  expect(preferredEncoding(acceptEncoding, ['br', 'gzip'])).toBe(encoding)
})
