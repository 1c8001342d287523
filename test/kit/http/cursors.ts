import { expect } from 'vitest'

interface ListResponse {
  status: number
  /** The parsed body: a list or an error. */
  body: { error?: { code: string; details: { path: string }[] } }
}

/**
 * Requests the list with forged variants of its cursor. Each must return a page, or 400 naming the field, and never 500.
 */
export async function expectForgeriesRefused(
  cursor: string,
  list: (query: string) => Promise<ListResponse>,
): Promise<void> {
  let refused = 0
  for (const forged of buildForgeries(cursor)) {
    for (const field of ['cursor', 'pageToken']) {
      const { status, body } = await list(`${field}=${forged}`)
      const shown = Buffer.from(forged, 'base64url').toString()
      expect([200, 400], `${shown} → ${status}`).toContain(status)
      if (status === 200) continue
      refused += 1
      expect(body.error, shown).toMatchObject({ code: 'invalid_cursor', details: [{ path: `query.${field}` }] })
    }
  }
  expect(refused).toBeGreaterThan(0)
}

function buildForgeries(cursor: string): string[] {
  const [mark, page, ...position]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  const positions = position.flatMap((_, index) => HOSTILE.map((value) => position.with(index, value)))
  const others = [[], [...position, 'more'], [...position, 1], position.slice(1), position.toReversed(), [position]]
  const pages = HOSTILE.map((value) => [mark, value, ...position])
  return [...[...positions, ...others].map((changed) => [mark, page, ...changed]), ...pages, [page, mark], {}, 1].map(
    (forged) => Buffer.from(JSON.stringify(forged)).toString('base64url'),
  )
}

const HOSTILE = [
  '',
  ' ',
  'x',
  '1',
  '-1',
  '1e400',
  'NaN',
  'null',
  "' or 1=1 --",
  'a\u0000b',
  '\ud800',
  '%00',
  'é'.repeat(500),
  0,
  -1,
  1.5,
  1e21,
  1e308,
  -1e308,
  Number.MAX_SAFE_INTEGER,
  2 ** 53,
  2 ** 63,
  5e-324,
  -0,
  null,
  true,
  [],
  {},
  ['x'],
  [1],
]
