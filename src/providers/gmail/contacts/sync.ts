import type { Static } from 'typebox'
import * as Type from 'typebox'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { type ContactStep, type ContactSyncRequest, ProviderError } from '../../contract/index.ts'
import { PageLinks, parser, type RestMailbox } from '../../shared/rest/index.ts'
import { connectionPage, type PersonPage } from './client.ts'
import { mappedPerson } from './map.ts'

/** The cursor of unchanged contacts is renewed this often. */
const RENEW_MS = 24 * 60 * 60 * 1000

const LISTING = 'listing contacts'
const READING = 'reading the changes of contacts'

const tokenSchema = Type.String({ minLength: 1, maxLength: 1800 })
const cursorSchema = Type.Object({
  v: Type.Literal(1),
  /** Where changes begin; absent until the listing is complete. */
  token: Type.Optional(tokenSchema),
  /** The next page, of the listing or of the changes. */
  page: Type.Optional(tokenSchema),
  /** When Google returned the cursor, in ms. */
  atMs: Type.Number(),
})
type Cursor = Static<typeof cursorSchema>
const parseCursor = parser(cursorSchema)

/**
 * Lists all contacts, then reads changes by sync token. Google keeps a token for seven days after the listing, and may show a change some
 * minutes late.
 */
export async function* syncPersons(
  mailbox: RestMailbox,
  { cursor: written, signal }: Pick<ContactSyncRequest, 'cursor' | 'signal'>,
  clock: Clock,
): AsyncGenerator<ContactStep> {
  let cursor: Cursor = written === null ? { v: 1, atMs: clock.now() } : readCursor(written)
  const doing = cursor.token === undefined ? LISTING : READING
  const links = new PageLinks(doing)
  for (let isFirst = true; ; isFirst = false) {
    const { token, page } = cursor
    const tokens = { pageToken: page, syncToken: token }
    const result = await connectionPage(mailbox, tokens, { doing, signal }).catch((error: unknown) => {
      // The page token may be one of an earlier run: what that one listed may be deleted since.
      const isStored = token !== undefined || (isFirst && page !== undefined)
      throw isStored && isRefused(error) ? expired(error) : error
    })
    const following = follow(cursor, result, clock.now())
    if (following === undefined) throw new ProviderError('unavailable', `${doing}: the last page has no sync token`)
    const step = toStep(result, following)
    const isOld = following.atMs - cursor.atMs > RENEW_MS
    const isEmpty = step.found.length + step.removed.length === 0 && token !== undefined && result.next === undefined
    if (!isEmpty || page !== undefined || isOld) yield step
    if (result.next === undefined) return
    cursor = { ...following, page: links.follow(result.next, result.items.length) }
  }
}

function follow({ token }: Cursor, { next, syncToken }: PersonPage, nowMs: number): Cursor | undefined {
  if (next !== undefined) return { v: 1, ...(token !== undefined && { token }), page: next, atMs: nowMs }
  return syncToken === undefined ? undefined : { v: 1, token: syncToken, atMs: nowMs }
}

function toStep({ items }: PersonPage, cursor: Cursor): ContactStep {
  const mapped = items.flatMap((item) => mappedPerson(item) ?? [])
  return {
    found: mapped.flatMap(({ contact }) => contact ?? []),
    removed: mapped.flatMap(({ removed }) => removed),
    cursor: JSON.stringify(cursor),
  }
}

function readCursor(written: string): Cursor {
  try {
    return parseCursor(JSON.parse(written))
  } catch (error) {
    rethrowProgrammingError(error)
    throw new ProviderError('cursor_expired', 'the stored cursor of the contacts is not readable')
  }
}

/** Google does not accept a token: it has expired, or another version of this service has requested other fields. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof ProviderError)) return false
  return (
    error.kind === 'cursor_expired' ||
    error.kind === 'conflict' ||
    (error.kind === 'rejected' && !error.denied && !error.missingScope)
  )
}

function expired(error: unknown): ProviderError {
  return new ProviderError('cursor_expired', `${READING}: Google no longer accepts the token`, { cause: error })
}
