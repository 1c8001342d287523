import { describe, expect, it } from 'vitest'
import { spentCpuMs } from '../../../../../test/kit/measure/event-loop.ts'
import { headerFields, parseHeaders } from './headers.ts'

const LENGTH = 126 * 1024

function fill(piece: string): string {
  return piece.repeat(Math.ceil(LENGTH / piece.length)).slice(0, LENGTH)
}

function readFields(header: string) {
  return headerFields(parseHeaders(Buffer.from(`${header}\r\n`)))
}

/** The CPU time of the fastest of three runs. */
async function fastestMs(work: () => unknown): Promise<number> {
  const spent: number[] = []
  while (spent.length < 3) spent.push(await spentCpuMs(work))
  return Math.min(...spent)
}

describe('a header of 126 kB', () => {
  it.each([
    ['groups within groups', `To: ${fill('g:')}`],
    ['groups within groups, with spaces', `To: ${fill('g: ')}a@example.com;`],
    ['groups that quotes seem to close', `To: g:";"${fill('a:')}`],
    ['angle brackets', `To: ${fill('<>')}`],
    ['comments', `To: ${fill('()')}`],
    ['quotes', `To: ${fill('"" ')}`],
    ['recipients', `To: ${fill('a@b,')}`],
    ['groups', `To: ${fill('g:a@b;')}`],
    ['fields of recipients', fill('To: a\r\n')],
    ['encoded names', `To: ${fill('=?utf-8?B?YTxhQGI+?=,')}`],
    ['encoded words', `Subject: ${fill('=?utf-8?B?YQ==?= ')}`],
    ['references', `References: ${fill('<a> ')}`],
    ['fields', fill('a:\r\n')],
    ['folded lines', `To: a${fill('\r\n b')}`],
  ])('of %s is parsed at once', async (_what, header) => {
    // 10 ms is usual. Without the limits these take up to a second.
    expect(await fastestMs(() => readFields(header))).toBeLessThan(300)
  })
})

describe('a list of addresses', () => {
  const emails = (to: string) => readFields(`To: ${to}`).to.map(({ email }) => email)

  it('contains the members of its groups', () => {
    expect(emails('a@x, Team: b@x, "C: c" <c@x>; d@x, Others: e@x;')).toEqual(['a@x', 'b@x', 'c@x', 'd@x', 'e@x'])
    expect(emails('undisclosed-recipients:;')).toEqual([])
    expect(readFields('To: "Doe, J. (x): \\"y\\"" <j@x>, (a, b: c) k@x').to).toEqual([
      { name: 'Doe, J. (x): "y"', email: 'j@x' },
      expect.objectContaining({ email: 'k@x' }),
    ])
  })

  it('is the same for each message that has it', () => {
    const list = 'Ann <ann@x>, bob@x'
    const first = readFields(`From: ${list}\r\nTo: ${list}`)
    first.to.pop()
    const second = readFields(`From: ${list}\r\nTo: ${list}\r\nCc: ${list}, cyd@x`)
    expect(second.from).toEqual({ name: 'Ann', email: 'ann@x' })
    expect(second.to.map(({ email }) => email)).toEqual(['ann@x', 'bob@x'])
    expect(second.cc.map(({ email }) => email)).toEqual(['ann@x', 'bob@x', 'cyd@x'])
  })

  it('ends after a thousand addresses', () => {
    const list = Array.from({ length: 3000 }, (_, index) => `${index}@x`)
    expect(emails(list.join(', '))).toEqual(list.slice(0, 1000))
  })
})
