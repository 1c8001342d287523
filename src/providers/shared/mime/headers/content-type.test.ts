import { expect, it } from 'vitest'
import { parseFileType, withoutFileName } from './content-type.ts'

it.each([
  ['text/calendar; method=REQUEST; charset=UTF-8', 'text/calendar; method=REQUEST; charset=UTF-8'],
  ['TEXT/Plain;charset="utf-8" ;', 'text/plain; charset="utf-8"'],
  ['application/x; a="b; \\"c\\"";\td=e', 'application/x; a="b; \\"c\\""; d=e'],
  ['application/vnd.ms-excel', 'application/vnd.ms-excel'],
  ['message/rfc822', 'message/rfc822'],
])('accepts the type %s', (value, contentType) => {
  expect(parseFileType(value)).toEqual({ contentType })
})

it.each([
  '',
  'text',
  'text/',
  'a/b/c',
  'text/plain charset=utf-8',
  'text/plain; charset',
  'text/plain; charset=',
  'x/y; a="b',
  'text/plain; charset=utf-8\r\nX-Own: 1',
  'text/größe',
  'x/y; a=b c',
  'x/y; a=(b)',
  `x/${'y'.repeat(500)}`,
  'multipart/mixed; boundary=b',
  'Multipart/Related',
  'message/external-body; access-type=ftp',
  'message/partial',
])('refuses the type %j', (value) => {
  expect(parseFileType(value)).toEqual({ problem: expect.stringMatching(/^must /) })
})

it('reads a long line of parameters in linear time', () => {
  expect(parseFileType(`x/y${';a="\\'.repeat(100)}`).problem).toBeDefined()
  expect(withoutFileName(`x/y; ${'a=b;'.repeat(20_000)}\\`)).toBeUndefined()
})

it('leaves the name of the file out', () => {
  expect(withoutFileName(`text/calendar; NAME="a; b"; method=REQUEST; name*0*=utf-8''x; name2=y`)).toBe(
    'text/calendar; method=REQUEST; name2=y',
  )
})
