import { describe, expect, it } from 'vitest'
import { fc } from '../../../../../test/kit/random/random.ts'
import { allParts } from './part.ts'
import { rawTree } from './raw-tree.ts'

const lines = (...all: string[]) => Buffer.from(all.join('\r\n'), 'latin1')

function contents(source: Buffer, options = {}): [id: string, type: string, content: string][] {
  const parts = allParts(rawTree(source, options)).filter(({ children }) => children.length === 0)
  return parts.map(({ id, type, bodyStart, bodyEnd }) => [id, type, source.toString('latin1', bodyStart, bodyEnd)])
}

describe('the parts of a message in its bytes', () => {
  it('are numbered as IMAP does, and end before the line end of the next delimiter', () => {
    const source = lines(
      'Content-Type: multipart/mixed; boundary="a b"',
      '',
      'preamble --a b',
      '--a b',
      'Content-Type: multipart/alternative; boundary=in',
      '',
      '--in',
      '',
      'plain',
      '',
      '--in',
      'Content-Type: text/html',
      '',
      '<p>',
      '--in--',
      'epilogue',
      '--a b  ',
      'Content-Type: message/rfc822',
      '',
      'Content-Type: multipart/mixed; boundary=x',
      '',
      '--x',
      '--a b--',
      'after',
    )
    expect(contents(source)).toEqual([
      ['1.1', 'text/plain', 'plain\r\n'],
      ['1.2', 'text/html', '<p>'],
      ['2', 'message/rfc822', 'Content-Type: multipart/mixed; boundary=x\r\n\r\n--x'],
    ])
  })

  it.each([
    ['without a multipart', lines('Subject: a', '', 'text'), [['1', 'text/plain', 'text']]],
    [
      'without a delimiter',
      lines('Content-Type: multipart/mixed; boundary=b', '', 'text'),
      [['1', 'text/plain', 'text']],
    ],
    ['without a boundary', lines('Content-Type: multipart/mixed', '', 'text'), [['1', 'text/plain', 'text']]],
    [
      'whose inner boundary begins with the outer one',
      lines(
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: multipart/mixed; boundary=bb',
        '',
        '--bb',
        '',
        'in',
        '--bb--',
        '--b',
        '',
        'out',
        '--b--',
      ),
      [
        ['1.1', 'text/plain', 'in'],
        ['2', 'text/plain', 'out'],
      ],
    ],
    [
      'whose inner multipart has no end',
      lines(
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: multipart/mixed; boundary=c',
        '',
        '--c',
        '',
        'in',
        '--b',
        '',
        'out',
      ),
      [
        ['1.1', 'text/plain', 'in'],
        ['2', 'text/plain', 'out'],
      ],
    ],
    [
      'of a digest',
      lines('Content-Type: multipart/digest; boundary=b', '', '--b', '', 'Subject: a', '--b--'),
      [['1', 'message/rfc822', 'Subject: a']],
    ],
    [
      'whose boundary looks like an encoded word',
      lines('Content-Type: multipart/mixed; boundary="=?utf-8?q?b?="', '', '--=?utf-8?q?b?=', '', 'in'),
      [['1', 'text/plain', 'in']],
    ],
    [
      'with 5,000 recipients before its type',
      lines(
        `To: ${'Somebody <somebody@mail.example>,\r\n '.repeat(5000)}<last@mail.example>`,
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        '',
        'in',
      ),
      [['1', 'text/plain', 'in']],
    ],
    [
      'with bare line feeds',
      Buffer.from('Content-Type: multipart/mixed; boundary=b\n\n--b\n\none\n--b--\n'),
      [['1', 'text/plain', 'one']],
    ],
    [
      'with a header only',
      lines('Content-Type: multipart/mixed; boundary=b', '', '--b', 'A: b', '--b--'),
      [['1', 'text/plain', '']],
    ],
  ])('of a message %s', (_what, source, expected) => {
    expect(contents(source)).toEqual(expected)
  })

  it('are incomplete where the bytes end within them', () => {
    const source = lines('Content-Type: multipart/mixed; boundary=b', '', '--b', '', 'one', '--b', '', 'tw')
    const [one, two] = rawTree(source, { isWhole: false }).children
    expect([one?.isComplete, two?.isComplete]).toEqual([true, false])
  })

  it('lie within the message, whatever its bytes', () => {
    const pieces = fc.array(
      fc.constantFrom('--b', '--', '\r\n', '\n', 'Content-Type: multipart/mixed; boundary=b', 'a: ', 'x', '\0', '--c'),
      { maxLength: 60 },
    )
    fc.assert(
      fc.property(pieces, fc.boolean(), (all, isWhole) => {
        const source = Buffer.from(all.join(''), 'latin1')
        for (const { start, bodyStart, bodyEnd } of allParts(rawTree(source, { isWhole }))) {
          expect(start).toBeLessThanOrEqual(bodyStart)
          expect(bodyStart).toBeLessThanOrEqual(bodyEnd)
          expect(bodyEnd).toBeLessThanOrEqual(source.length)
        }
      }),
    )
  })
})
