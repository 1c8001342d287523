import { expect, it } from 'vitest'
import { describeFields, describePart, fileType } from './part.ts'

it.each([
  ['text/calendar; method=REQUEST; charset="UTF-8"; name="invite.ics"', 'text/calendar; method=REQUEST; charset=UTF-8'],
  ['TEXT/Plain; Charset=iso-8859-1; format=flowed', 'text/plain; charset=iso-8859-1; format=flowed'],
  ['application/pdf', 'application/pdf'],
  ['multipart/related; boundary=b; type="text/html"; start="<a>"', 'multipart/related'],
  ['text/plain; x="a b"; y="\\"; z=\u0001; charset=utf-8', 'text/plain'],
  [`text/plain; x=${'x'.repeat(81)}; charset=utf-8`, 'text/plain; charset=utf-8'],
  ['nothing like a type', 'text/plain'],
])('the type of a file with %j is %s', (value, expected) => {
  expect(fileType(describeFields([{ name: 'Content-Type', value }]))).toBe(expected)
})

it('is what its header says, in the place of the part that a server described otherwise', () => {
  const place = { id: '1', encodedBytes: 5, sizeBytes: undefined, children: [] }
  const described = describePart([{ name: 'Content-Type', value: 'text/plain; charset=us-ascii' }], place)
  const headers = [
    { name: 'Content-Type', value: 'text/html' },
    { name: 'Content-Transfer-Encoding', value: 'base64' },
  ]
  expect(describePart(headers, described)).toMatchObject({
    id: '1',
    type: 'text/html',
    charset: undefined,
    encoding: 'base64',
    encodedBytes: 5,
  })
})
