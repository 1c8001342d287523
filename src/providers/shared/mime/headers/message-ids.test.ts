import { describe, expect, it } from 'vitest'
import { limitReferences, readMessageIds } from './message-ids.ts'

describe('message ids', () => {
  it.each([
    ['<a@b>', ['<a@b>']],
    ['<a@b> <c@d>', ['<a@b>', '<c@d>']],
    ['<a@b><c@d>', ['<a@b>', '<c@d>']],
    ['<a@b>,<c@d>;<e@f>', ['<a@b>', '<c@d>', '<e@f>']],
    ['a@b', ['<a@b>']],
    ['a@b c@d', ['<a@b>', '<c@d>']],
    ['abc123', ['<abc123>']],
    ['<abc123>', ['<abc123>']],
    ['<very-long-\r\n identifier@b>', ['<very-long-identifier@b>']],
    ['(note) <a@b> (see <x@y>)', ['<a@b>']],
    ['=?us-ascii?Q?=3Ca=40b=3E?=', ['<a@b>']],
    ['Your message of "Fri, 20 Nov" <a@b>', ['<a@b>']],
    ['<<a@b>>', ['<a@b>']],
    ['<a@b', ['<a@b>']],
    ['<a@b> <a@b>', ['<a@b>']],
    ['', []],
    ['<>', []],
    ['< >', []],
  ])('%j has %j', (value, ids) => {
    expect(readMessageIds(value)).toEqual(ids)
  })

  it('keeps the first and the last of many', () => {
    const ids = Array.from({ length: 300 }, (_, index) => `<${index}@x>`)
    expect(limitReferences(ids, 3)).toEqual(['<0@x>', '<298@x>', '<299@x>'])
    expect(limitReferences(ids.slice(0, 3), 3)).toEqual(['<0@x>', '<1@x>', '<2@x>'])
  })
})
