import { expect, it } from 'vitest'
import { fc } from '../../../test/kit/random/random.ts'
import { cleanJson, cleanText, truncateCharacters, truncateText } from './text.ts'

it('removes NUL and replaces lone surrogates, which PostgreSQL refuses', () => {
  expect(cleanText('a\0b\uD83Dc')).toBe('ab\uFFFDc')
})

it('cleans every string in a JSON value, keys too, and leaves the rest', () => {
  expect(cleanJson({ 'k\0': ['x\0', 1, null, { deep: '\uDC00' }] })).toBe('{"k":["x",1,null,{"deep":"\uFFFD"}]}')
  fc.assert(
    fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' })), (value) => {
      const cleaned: unknown = JSON.parse(cleanJson(value))
      expect(cleaned).toEqual(
        Object.fromEntries(Object.entries(value).map(([key, text]) => [cleanText(key), cleanText(text)])),
      )
    }),
  )
})

it('never ends a truncated text inside a surrogate pair', () => {
  expect(truncateText('ab😀cd', 3)).toBe('ab')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, limit) => {
      const cut = truncateText(cleanText(text), limit)
      return cut.length <= limit && cut.isWellFormed()
    }),
  )
})

it('counts a surrogate pair as one character when it truncates by characters', () => {
  expect(truncateCharacters('ab😀cd', 3)).toBe('ab😀')
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, limit) => {
      const cleaned = cleanText(text)
      expect(truncateCharacters(cleaned, limit)).toBe([...cleaned].slice(0, limit).join(''))
    }),
  )
})
