import { expect, it } from 'vitest'
import { shortText, visibleText, visibleValue } from './clean-text.ts'

it('removes what a person does not see: controls, directions, tags, hidden selectors', () => {
  const tags = String.fromCodePoint(...[...'obey'].map((letter) => 0xe0000 + letter.charCodeAt(0)))
  const selectors = String.fromCodePoint(0xe0100, 0xe01ef, 0xfe00)
  expect(visibleText(`a\u0000\u0007\u001b[2J\u009b${tags}${selectors}\u202e\u2066\u200b\u00ad\ufeff\ufff9b`)).toBe(
    'a[2Jb',
  )
})

it('keeps text, tabs, line breaks, joiners and emoji', () => {
  const text = 'Größe\t会議\nمرحبا نمی\u200cخواهم 👩\u200d💻 ❤\ufe0f'
  expect(visibleText(text)).toBe(text)
  expect(visibleText('a\r\nb\rc\u2028d')).toBe('a\nb\nc\nd')
  expect(visibleText('\ud800x')).toBe('\ufffdx')
})

it('shortens a text to one line of at most so many characters', () => {
  expect(shortText(' a\r\n\tb\u200b  c ', 10)).toBe('a b c')
  expect(shortText('😀'.repeat(10), 6)).toBe('😀😀…')
  expect(shortText(`x${' '.repeat(1_000_000)}y`, 3)).toBe('x')
})

it('cleans every string and name of a value', () => {
  expect(visibleValue({ 'a\u202e': ['\u0007b', 1, null, { c: true }] })).toEqual({ a: ['b', 1, null, { c: true }] })
})
