import { createHash } from 'node:crypto'
import { AppError } from './errors.ts'

/** The object every list carries. `nextCursor`/`nextPageToken` are the same opaque text, present when there is more. */
export interface Pagination {
  page: number
  limit: number
  total: number
  totalPages: number
  hasNext: boolean
  hasPrev: boolean
  totalCapped?: boolean
  nextCursor?: string
  nextPageToken?: string
}

/** What a list's position is made of, in order: the sort values of a row. Integers are zero or more. */
export type PositionKind = 'integer' | 'text'
type Position = readonly (string | number)[]
type PositionOf<K extends readonly PositionKind[]> = { [I in keyof K]: K[I] extends 'integer' ? number : string }

/** What a list was asked for, after defaults: `after` (from a cursor) wins over `page`. */
export interface PageRequest<After extends Position = Position> {
  page: number
  limit: number
  offset: number
  /** The position a cursor carries: the sort values of the last row seen. */
  after?: After
}

export interface PageQuery {
  page?: number | undefined
  limit?: number | undefined
  maxResults?: number | undefined
  pageToken?: string | undefined
  cursor?: string | undefined
}

export interface Page<T> {
  items: T[]
  pagination: Pagination
}

export const MAX_LIMIT = 200

/**
 * Resolves a list's query. `filter` names everything that shapes the list (path and filters); a cursor made for
 * another filter is refused with `invalid_cursor`, and so is one whose position is not of these kinds: it reaches no
 * engine and no server. `limit` wins over `maxResults`, `cursor` over `page`.
 */
export function pageRequest<const K extends readonly PositionKind[]>(
  query: PageQuery,
  filter: unknown,
  kinds: K,
  defaultLimit = 50,
): PageRequest<PositionOf<K>> {
  const limit = Math.min(query.limit ?? query.maxResults ?? defaultLimit, MAX_LIMIT)
  const cursor = query.cursor ?? query.pageToken
  if (cursor === undefined || cursor === '') {
    const page = query.page ?? 1
    // Beyond this neither engine takes it; no list is that long.
    return { page, limit, offset: Math.min((page - 1) * limit, Number.MAX_SAFE_INTEGER) }
  }
  const field = query.cursor === undefined ? 'query.pageToken' : 'query.cursor'
  const { after, page } = decodeCursor(cursor, filter, field)
  if (!isPosition(after, kinds)) throw invalidCursor(field, NOT_OURS)
  return { page, limit, offset: 0, after }
}

/**
 * Builds the answer of a list. Pass one row more than `limit` when it exists: that is how `hasNext` stays exact.
 * `position` gives the sort values of a row, for the next cursor.
 */
export function pageOf<T>(
  rows: readonly T[],
  request: Pick<PageRequest, 'page' | 'limit'>,
  total: number | { count: number; capped: boolean },
  filter: unknown,
  position: (row: T) => readonly (string | number)[],
): Page<T> {
  const items = rows.slice(0, request.limit)
  const hasNext = rows.length > request.limit
  const last = items.at(-1)
  const { count, capped } = typeof total === 'number' ? { count: total, capped: false } : total
  const next = hasNext && last !== undefined ? encodeCursor(position(last), request.page + 1, filter) : undefined
  return {
    items,
    pagination: {
      page: request.page,
      limit: request.limit,
      total: count,
      totalPages: Math.ceil(count / request.limit),
      hasNext,
      hasPrev: request.page > 1,
      ...(capped && { totalCapped: true }),
      ...(next !== undefined && { nextCursor: next, nextPageToken: next }),
    },
  }
}

/** A whole small list as one answer, paged in memory (endpoints, labels). */
export function pageOfAll<T>(
  all: readonly T[],
  query: PageQuery,
  filter: unknown,
  position: (row: T) => string,
): Page<T> {
  const request = pageRequest(query, filter, ['text'])
  const start = request.after ? all.findIndex((row) => position(row) === request.after?.[0]) + 1 : request.offset
  return pageOf(all.slice(start, start + request.limit + 1), request, all.length, filter, (row) => [position(row)])
}

function fingerprint(filter: unknown): string {
  return createHash('sha256').update(JSON.stringify(filter)).digest('base64url').slice(0, 8)
}

function encodeCursor(after: readonly (string | number)[], page: number, filter: unknown): string {
  return Buffer.from(JSON.stringify([fingerprint(filter), page, ...after])).toString('base64url')
}

function decodeCursor(cursor: string, filter: unknown, field: string): { page: number; after: unknown[] } {
  const [mark, page, ...after] = parseCursor(cursor)
  if (!isCount(page)) throw invalidCursor(field, NOT_OURS)
  if (mark !== fingerprint(filter)) throw invalidCursor(field, 'belongs to another list or filter')
  return { page, after }
}

/** Empty for what is not JSON, or no list: that is no cursor of ours either. */
function parseCursor(cursor: string): unknown[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    return Array.isArray(parts) ? parts : []
  } catch {
    return []
  }
}

function isPosition<K extends readonly PositionKind[]>(after: readonly unknown[], kinds: K): after is PositionOf<K> {
  const fits = (part: unknown, kind: PositionKind | undefined) =>
    kind === 'integer' ? part === 0 || isCount(part) : typeof part === 'string'
  return after.length === kinds.length && after.every((part, index) => fits(part, kinds[index]))
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1
}

const NOT_OURS = 'is not a cursor of this service'

function invalidCursor(path: string, message: string): AppError {
  return new AppError('invalid_cursor', { details: [{ path, message }] })
}
