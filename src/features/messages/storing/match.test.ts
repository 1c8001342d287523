import { describe, expect, it } from 'vitest'
import { type Candidate, type Keys, matchMessages } from './match.ts'

function keys(text: string, emailId: string | null = null): Keys {
  return { emailIdHash: emailId, identityHash: `identity ${text}`, headerHash: `header ${text}` }
}

function row(id: string, text: string, changes: Partial<Candidate> = {}): Candidate {
  return { id, folderId: 'inbox', uidValidity: '1', uid: null, goneAt: 5, ...keys(text), ...changes }
}

const nothing = new Map<string, 'present' | 'absent'>()
const matched = (result: ReturnType<typeof matchMessages>) =>
  [...result.matched].map(([position, candidate]) => [position, candidate.id])

describe('a mail just seen', () => {
  it('is the row that vanished elsewhere, each row once', () => {
    const result = matchMessages([keys('a'), keys('a'), keys('a')], [row('1', 'a'), row('2', 'a')], 'work', nothing)
    expect(matched(result)).toEqual([
      [0, '1'],
      [1, '2'],
    ])
    // One more than there were rows: copied and moved between two looks.
    expect([...result.copies]).toEqual([2])
  })

  it('takes a row of its own folder that lost its place before one that vanished elsewhere', () => {
    const lost = row('2', 'a', { goneAt: null })
    expect(matched(matchMessages([keys('a')], [row('1', 'a', { folderId: 'work' }), lost], 'inbox', nothing))).toEqual([
      [0, '2'],
    ])
  })

  it('is known by its header block when date or size were lost on the way', () => {
    const moved = { ...keys('a'), identityHash: 'another' }
    expect(matched(matchMessages([moved], [row('1', 'a')], 'work', nothing))).toEqual([[0, '1']])
  })

  it('is another mail when the server gives it another EMAILID, unless the server was renumbered', () => {
    const vanished = row('1', 'a', { emailIdHash: 'e1' })
    expect(matched(matchMessages([keys('a', 'e2')], [vanished], 'work', nothing))).toEqual([])
    const renumbered = { ...vanished, goneAt: null }
    expect(matched(matchMessages([keys('a', 'e2')], [renumbered], 'inbox', nothing))).toEqual([[0, '1']])
  })

  it('that a row stands for elsewhere is undecided until the server is asked; then a move, or a copy', () => {
    const standing = row('1', 'a', { uid: 7, goneAt: null })
    expect(matchMessages([keys('a')], [standing], 'work', nothing).undecided).toEqual([standing])
    const absent = matchMessages([keys('a')], [standing], 'work', new Map([['1', 'absent']]))
    expect(matched(absent)).toEqual([[0, '1']])
    const present = matchMessages([keys('a')], [standing], 'work', new Map([['1', 'present']]))
    expect(matched(present)).toEqual([])
    expect([...present.copies]).toEqual([0])
  })

  it('is a copy when the original came along: moved by now, and asked about', () => {
    const left = row('1', 'a', { uid: 7, goneAt: null })
    const both = matchMessages([keys('a'), keys('a')], [left], 'work', new Map([['1', 'absent']]))
    expect(matched(both)).toEqual([[0, '1']])
    expect([...both.copies]).toEqual([1])
    expect(both.undecided).toEqual([])
  })

  it('that stands twice in one folder is two mails, after a new numbering too', () => {
    const lost = row('1', 'a', { goneAt: null })
    expect(matchMessages([keys('a'), keys('a')], [lost], 'inbox', nothing).copies.size).toBe(0)
  })

  it('that stands twice in one folder is two mails', () => {
    const standing = row('1', 'a', { uid: 7, goneAt: null })
    const present = matchMessages([keys('a')], [standing], 'inbox', new Map([['1', 'present']]))
    expect(present.copies.size).toBe(0)
    expect(present.undecided).toEqual([])
  })
})
