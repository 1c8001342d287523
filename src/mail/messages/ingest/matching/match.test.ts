import { describe, expect, it } from 'vitest'
import { type Candidate, type MatchKeys, matchMessages } from './match.ts'

function keys(text: string, emailId: string | null = null): MatchKeys {
  return {
    emailIdHash: emailId,
    identityHash: `identity ${text}`,
    headerHash: `header ${text}`,
    traceHash: null,
    sizeBytes: 100,
  }
}

function row(id: string, text: string, changes: Partial<Candidate> = {}): Candidate {
  return { id, folderId: 'inbox', uidValidity: '1', uid: null, goneAt: 5, apiChange: null, ...keys(text), ...changes }
}

const unknown = new Map<string, 'present' | 'absent'>()
const matched = (result: ReturnType<typeof matchMessages>) =>
  [...result.matched].map(([position, candidate]) => [position, candidate.id])

describe('matchMessages', () => {
  it('matches missing rows, each row once', () => {
    const result = matchMessages([keys('a'), keys('a'), keys('a')], [row('1', 'a'), row('2', 'a')], 'work', unknown)
    expect(matched(result)).toEqual([
      [0, '1'],
      [1, '2'],
    ])
    // More messages than rows: one was moved, one was copied since the last sync.
    expect([...result.copies]).toEqual([2])
  })

  it('prefers a row of the same folder without a location to one missing elsewhere', () => {
    const lost = row('2', 'a', { goneAt: null })
    expect(matched(matchMessages([keys('a')], [row('1', 'a', { folderId: 'work' }), lost], 'inbox', unknown))).toEqual([
      [0, '2'],
    ])
  })

  it('matches by header block when the move changed the date or size', () => {
    const moved = { ...keys('a'), identityHash: 'another' }
    expect(matched(matchMessages([moved], [row('1', 'a')], 'work', unknown))).toEqual([[0, '1']])
  })

  it('does not match another EMAILID when a row has the one of the message, except after a new UIDVALIDITY', () => {
    const missing = row('1', 'a', { emailIdHash: 'e1' })
    const copied = row('2', 'a', { emailIdHash: 'e2', uid: 7, goneAt: null })
    const present = new Map([['2', 'present' as const]])
    expect(matched(matchMessages([keys('a', 'e2')], [missing, copied], 'work', present))).toEqual([])
    // The program that copied it added a header line.
    expect(matched(matchMessages([keys('a', 'e2')], [missing], 'work', unknown))).toEqual([[0, '1']])
    const renumbered = { ...missing, goneAt: null }
    expect(matched(matchMessages([keys('a', 'e2')], [renumbered], 'inbox', unknown))).toEqual([[0, '1']])
  })

  it('matches messages of one Message-ID and date by their sizes, and another size last', () => {
    const rows = [row('1', 'a', { sizeBytes: 200 }), row('2', 'a')].map((candidate) => ({
      ...candidate,
      headerHash: 'h',
    }))
    expect(matched(matchMessages([keys('a')], rows, 'work', unknown))).toEqual([[0, '2']])
    const larger = { ...keys('a'), headerHash: 'with another line', sizeBytes: 130 }
    expect(matched(matchMessages([larger], rows, 'work', unknown))).toEqual([[0, '1']])
  })

  it('matches what the same sender wrote only when the row left its folder, and else takes it for a copy', () => {
    const sent = { copyKey: 'what was sent', identityHash: 'another date' }
    const message = { ...keys('b'), ...sent, headerHash: 'h' }
    const located = row('1', 'a', { ...sent, identityHash: 'its date', uid: 7, goneAt: null })
    expect(matchMessages([message], [located], 'work', unknown).undecided).toEqual([located])
    expect(matched(matchMessages([message], [located], 'work', new Map([['1', 'absent']])))).toEqual([[0, '1']])
    const present = matchMessages([message], [located], 'work', new Map([['1', 'present']]))
    expect([matched(present), present.copies.size]).toEqual([[], 1])
  })

  it('neither moves nor copies a message that was delivered twice, unless a UIDVALIDITY or EMAILID says so', () => {
    const first = { ...keys('a', 'e1'), traceHash: 'to ann' }
    const second = { ...keys('a', 'e2'), traceHash: 'to sales' }
    for (const location of [{}, { uid: 7, goneAt: null }]) {
      const result = matchMessages(
        [second],
        [row('1', 'a', { ...first, ...location })],
        'work',
        new Map([['1', 'present']]),
      )
      expect([matched(result), result.copies.size, result.undecided]).toEqual([[], 0, []])
    }
    const renumbered = row('1', 'a', { ...first, goneAt: null })
    expect(matched(matchMessages([second], [renumbered], 'inbox', unknown))).toEqual([[0, '1']])
    const sameId = { ...second, emailIdHash: 'e1' }
    expect(matched(matchMessages([sameId], [row('1', 'a', first)], 'work', unknown))).toEqual([[0, '1']])
  })

  it('leaves a match with a located row undecided, then reports a move or a copy as the server says', () => {
    const located = row('1', 'a', { uid: 7, goneAt: null })
    expect(matchMessages([keys('a')], [located], 'work', unknown).undecided).toEqual([located])
    const absent = matchMessages([keys('a')], [located], 'work', new Map([['1', 'absent']]))
    expect(matched(absent)).toEqual([[0, '1']])
    const present = matchMessages([keys('a')], [located], 'work', new Map([['1', 'present']]))
    expect(matched(present)).toEqual([])
    expect([...present.copies]).toEqual([0])
  })

  it('reports a copy when its original moved to the same folder', () => {
    const left = row('1', 'a', { uid: 7, goneAt: null })
    const both = matchMessages([keys('a'), keys('a')], [left], 'work', new Map([['1', 'absent']]))
    expect(matched(both)).toEqual([[0, '1']])
    expect([...both.copies]).toEqual([1])
    expect(both.undecided).toEqual([])
  })

  it('reports no copy for the same message twice in one folder after a new UIDVALIDITY', () => {
    const lost = row('1', 'a', { goneAt: null })
    expect(matchMessages([keys('a'), keys('a')], [lost], 'inbox', unknown).copies.size).toBe(0)
  })

  it('reports no copy for the same message twice in one folder', () => {
    const located = row('1', 'a', { uid: 7, goneAt: null })
    const present = matchMessages([keys('a')], [located], 'inbox', new Map([['1', 'present']]))
    expect(present.copies.size).toBe(0)
    expect(present.undecided).toEqual([])
  })
})
