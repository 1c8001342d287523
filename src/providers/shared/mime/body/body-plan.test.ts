import { describe, expect, it } from 'vitest'
import { describePart, type Part } from '../tree/part.ts'
import { bodyPlan } from './body-plan.ts'

type Shape = string | Nested
interface Nested extends ReadonlyArray<Shape> {}

/** A part from `type` or from `type; parameters | disposition | content id`, named by its position. */
function part(shape: Shape, id = ''): Part {
  const [first = '', ...children] = typeof shape === 'string' ? [shape] : shape
  const description = typeof first === 'string' ? first : ''
  const [type = '', disposition = '', contentId = ''] = description.split(' | ')
  const headers = [
    { name: 'Content-Type', value: type },
    ...(disposition === '' ? [] : [{ name: 'Content-Disposition', value: disposition }]),
    ...(contentId === '' ? [] : [{ name: 'Content-ID', value: contentId }]),
  ]
  return describePart(headers, {
    id,
    encodedBytes: 1,
    sizeBytes: undefined,
    children: children.map((child, index) => part(child, id === '' ? `${index + 1}` : `${id}.${index + 1}`)),
  })
}

const MIXED = 'multipart/mixed'
const ALTERNATIVE = 'multipart/alternative'
const RELATED = 'multipart/related'
const NAMED = 'text/plain; name=a.txt'

describe('what a message shows', () => {
  it.each<[what: string, shape: Shape, text: string[], html: string[], files: string[]]>([
    ['one text', 'text/plain', [''], [''], []],
    ['a text between files', [MIXED, 'text/plain', 'image/png', 'text/plain'], ['1', '3'], ['1', '3'], ['2']],
    ['one of two alternatives', [ALTERNATIVE, 'text/plain', 'text/html'], ['1'], ['2'], []],
    ['the last alternative of a kind', [ALTERNATIVE, 'text/plain', 'text/html', 'text/html'], ['1'], ['3'], []],
    [
      'no form for other programs',
      [ALTERNATIVE, 'text/plain', 'text/x-amp-html', 'text/watch-html', 'text/html'],
      ['1'],
      ['4'],
      [],
    ],
    [
      'an invitation as a file',
      [ALTERNATIVE, 'text/plain', 'text/html', 'text/calendar; method=REQUEST'],
      ['1'],
      ['2'],
      ['3'],
    ],
    ['a file among alternatives', [ALTERNATIVE, 'text/plain', 'text/html', 'application/pdf'], ['1'], ['2'], ['3']],
    ['alternatives with names', [ALTERNATIVE, 'text/plain; name=a', 'text/html; name=b'], ['1'], ['2'], []],
    [
      'text that exists in HTML only, after alternatives',
      [MIXED, [ALTERNATIVE, 'text/plain', 'text/html'], 'text/html'],
      ['1.1', '2'],
      ['1.2', '2'],
      [],
    ],
    [
      'an alternative with files of its own',
      [ALTERNATIVE, 'text/plain', [MIXED, 'text/html', 'application/pdf', 'text/html']],
      ['1'],
      ['2.1', '2.3'],
      ['2.2'],
    ],
    ['the root of a related', [RELATED, 'text/html', 'image/png |  | <a@b>'], ['1'], ['1'], ['2']],
    [
      'the root that a related names',
      [`${RELATED}; start="<r@b>"`, 'image/png', 'text/html |  | <r@b>'],
      ['2'],
      ['2'],
      ['1'],
    ],
    ['a root behind its images', [RELATED, 'image/png |  | <a@b>', 'text/html'], ['2'], ['2'], ['1']],
    ['a footer in a related', [RELATED, 'text/html', 'text/plain'], ['1', '2'], ['1', '2'], []],
    ['a named text that is all there is', 'text/plain; name=body.txt', [''], [''], []],
    ['a named text beside files', [MIXED, NAMED, 'image/png'], ['1'], ['1'], ['2']],
    ['no named text beside another one', [MIXED, 'text/plain', NAMED], ['1'], ['1'], ['2']],
    ['no text that is an attachment', [MIXED, `${NAMED} | attachment`, 'image/png'], [], [], ['1', '2']],
    ['a text of a type that nobody knows', 'text/x-markdown', [''], [''], []],
    ['no calendar', 'text/calendar', [], [], ['']],
    ['nothing of an attached message', [MIXED, 'text/plain', 'message/rfc822'], ['1'], ['1'], ['2']],
    [
      'the parts of a signed message',
      ['multipart/signed', 'text/plain', 'application/pgp-signature'],
      ['1'],
      ['1'],
      ['2'],
    ],
    ['nothing', MIXED, [], [], []],
  ])('is %s', (_what, shape, text, html, files) => {
    const plan = bodyPlan(part(shape))
    expect(plan.text.map(({ id }) => id)).toEqual(text)
    expect(plan.html.map(({ id }) => id)).toEqual(html)
    expect(plan.files.map((file) => file.part.id)).toEqual(files)
  })
})
