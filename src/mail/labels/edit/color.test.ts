import { expect, it } from 'vitest'
import { hexColor } from './color.ts'

it.each([
  ['#16A765', '#16a765'],
  ['#f00', '#ff0000'],
  ['#F00A', '#ff0000'],
  ['#16a76580', '#16a765'],
  ['red', '#ff0000'],
  ['RebeccaPurple', '#663399'],
  [' darkslategrey ', '#2f4f4f'],
])('reads %s', (text, hex) => {
  expect(hexColor(text)).toBe(hex)
})

it.each(['', '#', '#12', '#12345', '#1234567', '#ggg', '16a765', 'brand-7', 'constructor', '__proto__', 'transparent'])(
  'does not know "%s"',
  (text) => {
    expect(hexColor(text)).toBeUndefined()
  },
)
