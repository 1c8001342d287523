import { expect, it } from 'vitest'
import { AppError } from '../errors/app-error.ts'
import { buildPage, pageOfAll, pageRequest } from './pagination.ts'

const filter = { list: 'things', label: 'a' }

it('returns the six fields exactly', () => {
  const request = pageRequest({ page: 2, limit: 2 }, filter, ['integer'])
  const { items, pagination } = buildPage([3, 4, 5], request, 5, filter, (row) => [row])
  expect(items).toEqual([3, 4])
  expect(pagination).toMatchObject({ page: 2, limit: 2, total: 5, totalPages: 3, hasNext: true, hasPrev: true })
})

it('defaults to 50, clamps to 200, prefers limit over maxResults and a cursor over a page', () => {
  expect(pageRequest({}, filter, ['integer'])).toMatchObject({ page: 1, limit: 50, offset: 0 })
  expect(pageRequest({ limit: 5000 }, filter, ['integer']).limit).toBe(200)
  expect(pageRequest({ maxResults: 7 }, filter, ['integer']).limit).toBe(7)
  expect(pageRequest({ limit: 3, maxResults: 7 }, filter, ['integer']).limit).toBe(3)
  const { nextCursor } = buildPage([1, 2], pageRequest({ limit: 1 }, filter, ['integer']), 2, filter, (row) => [
    row,
  ]).pagination
  expect(pageRequest({ page: 9, limit: 1, cursor: nextCursor }, filter, ['integer'])).toMatchObject({
    page: 2,
    after: [1],
  })
})

it('accepts any page without exceeding the largest offset', () => {
  for (const page of [1e20, Number.MAX_SAFE_INTEGER]) {
    const { offset } = pageRequest({ page, limit: 200 }, filter, ['integer'])
    expect([page, Number.isSafeInteger(offset)]).toEqual([page, true])
  }
})

it('rejects a cursor of another filter and malformed cursors', () => {
  const { nextCursor } = buildPage([1, 2], pageRequest({ limit: 1 }, filter, ['integer']), 2, filter, (row) => [
    row,
  ]).pagination
  expect(() => pageRequest({ cursor: nextCursor }, { ...filter, label: 'b' }, ['integer'])).toThrow(AppError)
  for (const cursor of [
    'x',
    '!!!',
    Buffer.from('{"a":1}').toString('base64url'),
    Buffer.from('[1]').toString('base64url'),
  ]) {
    expect(() => pageRequest({ cursor }, filter, ['integer'])).toThrow(AppError)
  }
})

it('pages a small list without losing or repeating a row', () => {
  const all = Array.from({ length: 7 }, (_, index) => `id${index}`)
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = pageOfAll(all, { limit: 3, cursor }, 'all', (row) => row)
    seen.push(...page.items)
    cursor = page.pagination.nextCursor
  } while (cursor !== undefined)
  expect(seen).toEqual(all)
})

it('continues a complete list after the row of the cursor when that row was deleted', () => {
  const { nextCursor } = pageOfAll(['a', 'b', 'c', 'd'], { limit: 2 }, 'all', (row) => row).pagination
  const rest = (rows: string[]) => pageOfAll(rows, { limit: 2, cursor: nextCursor }, 'all', (row) => row).items
  expect(rest(['a', 'c', 'd'])).toEqual(['c', 'd'])
  expect(rest(['a', 'b'])).toEqual([])
  expect(rest(['a'])).toEqual([])
})

it('sorts a complete list by its position', () => {
  expect(pageOfAll(['b', 'a', 'B'], {}, 'all', (row) => row).items).toEqual(['B', 'a', 'b'])
})

it('rejects a position of the wrong types and names the parameter', () => {
  const forged = (...position: unknown[]) => {
    const { nextCursor } = buildPage([1, 2], { page: 1, limit: 1 }, 2, filter, (row) => [row]).pagination
    const [mark] = JSON.parse(Buffer.from(nextCursor ?? '', 'base64url').toString())
    return Buffer.from(JSON.stringify([mark, 2, ...position])).toString('base64url')
  }
  const kinds = ['integer', 'text'] as const
  expect(pageRequest({ cursor: forged(0, '') }, filter, kinds).after).toEqual([0, ''])
  for (const position of [['0', ''], [-1, ''], [1.5, ''], [2 ** 53, ''], [0, 0], [0], [0, '', ''], [null, ''], []]) {
    for (const field of ['cursor', 'pageToken']) {
      const asked = () => pageRequest({ [field]: forged(...position) }, filter, kinds)
      expect(asked, JSON.stringify(position)).toThrow(
        expect.objectContaining({ status: 400, details: [{ path: `query.${field}`, message: expect.any(String) }] }),
      )
    }
  }
})
