import type { SeededTables } from './table-seed.ts'

/** Rows of a page of the portal, unless the table has another number. */
export const PAGE = 25

export interface Table {
  name: string
  path: string
  /** The member of the response with the rows, and their member with the id. */
  rows: string
  id?: string
  limit?: number
  /** The ids in order. Undefined: not known; newer ids come first. */
  expected?: readonly string[]
}

/** The tables of the portal with the filters of their pages, of which each finds all, many, few or no rows. */
export function buildTables(seeded: SeededTables, rows: number): Table[] {
  const { accountId, otherId: other, accounts, deliveries, audit, outbox, bookings, jobs, backfills } = seeded
  const [endpointId = ''] = seeded.endpointIds
  const middle = Math.floor(rows / 2)
  const since = audit[middle]?.at ?? 0
  /** A table without a filter and with each of these, which select the rows for which the function is true. */
  const kind = <Row extends object>(
    { id = 'id', ...table }: Omit<Table, 'expected'>,
    stored: readonly Row[],
    filters: Record<string, (row: Row) => boolean>,
  ): Table[] =>
    Object.entries({ '': () => true, ...filters }).map(([filter, isShown]) => ({
      ...table,
      id,
      name: filter === '' ? table.name : `${table.name} ?${filterName(filter)}`,
      path: filter === '' ? table.path : `${table.path}?${filter}`,
      expected: stored.filter(isShown).map((row) => String(row[id as keyof Row])),
    }))
  const matches =
    (part: string) =>
    ({ email }: { email: string }) =>
      email.includes(part)
  return [
    ...kind({ name: 'accounts', path: '/accounts', rows: 'accounts' }, accounts, {
      'q=USER7': matches('user7'),
      [`q=user${middle}%40`]: matches(`user${middle}@`),
      'q=nobody': () => false,
      'status=paused': () => true,
      'status=error': () => false,
      'provider=imap&q=bench': matches('bench'),
    }),
    ...kind({ name: 'queue', path: '/admin/queued-accounts', rows: 'accounts' }, accounts, { 'q=nobody': () => false }),
    ...kind({ name: 'deliveries', path: '/webhooks/deliveries', rows: 'deliveries' }, deliveries, {
      'status=failed': ({ status }) => status === 'failed',
      'status=success': ({ status }) => status === 'success',
      'status=retrying': () => false,
      'eventType=message.sent': ({ eventType }) => eventType === 'message.sent',
      [`endpointId=${endpointId}`]: (row) => row.endpointId === endpointId,
      [`accountId=${other}`]: (row) => row.accountId === other,
      [`endpointId=${endpointId}&status=failed`]: (row) => row.endpointId === endpointId && row.status === 'failed',
      [`accountId=${accountId}&status=failed`]: (row) => row.accountId === accountId && row.status === 'failed',
    }),
    ...kind({ name: 'audit', path: '/audit', rows: 'entries' }, audit, {
      'actor=key%3Arare': ({ actor }) => actor === 'key:rare',
      'action=account.updated': ({ action }) => action === 'account.updated',
      [`target=${other}`]: ({ target }) => target === other,
      [`since=${encodeURIComponent(new Date(since).toISOString())}`]: ({ at }) => at >= since,
    }),
    ...kind({ name: 'outbox', path: '/outbox', rows: 'messages' }, outbox, {
      'status=sent': ({ status }) => status === 'sent',
      'status=failed': ({ status }) => status === 'failed',
      [`accountId=${accountId}`]: (row) => row.accountId === accountId,
    }),
    ...kind({ name: 'bookings', path: '/scheduler/bookings', rows: 'bookings' }, bookings, {
      'status=cancelled': ({ status }) => status === 'cancelled',
      'status=pending': () => false,
      [`experienceSlug=${seeded.slug}`]: () => true,
      [`accountId=${other}`]: ({ hosts }) => hosts.includes(other),
      [`accountId=${other}&status=cancelled`]: (row) => row.hosts.includes(other) && row.status === 'cancelled',
      [`guestEmail=guest${middle}%40bench.example`]: (row) => row.guestEmail === `guest${middle}@bench.example`,
    }),
    ...kind({ name: 'jobs', path: '/scheduler-queue/jobs', rows: 'jobs' }, jobs, {
      'status=failed': ({ status }) => status === 'failed',
      'status=completed': ({ status }) => status === 'completed',
      'type=message': ({ type }) => type === 'message',
    }),
    ...kind({ name: 'backfills', path: '/historical-sync', rows: 'backfills', id: 'accountId' }, backfills, {
      'status=failed': ({ status }) => status === 'failed',
      'status=cancelled': ({ status }) => status === 'cancelled',
    }),
    ...kind(
      { name: 'drafts', path: `/accounts/${accountId}/drafts`, rows: 'drafts', id: 'messageId', limit: 20 },
      seeded.drafts.map(({ id }) => ({ messageId: id })),
      {},
    ),
    ...kind({ name: 'messages', path: `/accounts/${accountId}/messages`, rows: 'messages' }, seeded.messages, {}),
    { name: 'logs', path: '/logs', rows: 'logs', limit: 50 },
  ]
}

function filterName(filter: string): string {
  return decodeURIComponent(filter).replaceAll(/[a-z]{3}_\w+/g, '…')
}
