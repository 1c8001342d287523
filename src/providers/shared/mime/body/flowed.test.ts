import { expect, it } from 'vitest'
import { joinFlowedLines } from './flowed.ts'

it.each([
  ['joins lines that end with a space', 'one \r\ntwo \r\nthree\r\n\r\nfour', 'one two three\n\nfour'],
  ['keeps quotes of different depth apart', '> a \r\n> b\r\n>> c \r\n> d', '> a b\n>> c \n> d'],
  ['keeps the line before a signature', 'text \r\n-- \r\nAda \r\nLovelace', 'text \n-- \nAda Lovelace'],
  ['removes the space before a line that would begin as a quote', ' >no quote\r\n From here', '>no quote\nFrom here'],
  ['leaves fixed lines', 'a\nb', 'a\nb'],
])('%s', (_what, text, joined) => {
  expect(joinFlowedLines(text, { delSp: false })).toBe(joined)
})

it('removes the space of a line that continues with DelSp', () => {
  expect(joinFlowedLines('請求書を \n送ります。', { delSp: true })).toBe('請求書を送ります。')
})
