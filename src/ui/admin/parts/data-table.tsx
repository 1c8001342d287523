import { ActionIcon, Button, Group, Paper, Skeleton, Table, Text, VisuallyHidden } from '@mantine/core'
import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import type { ApiError, Query } from '../api/client.ts'
import { useRead } from '../api/queries.ts'
import type { List } from '../api/types.ts'
import { WithAccountNames } from './account-names.tsx'
import { IconChevronLeft, IconChevronRight } from './icons.tsx'
import { Problem } from './problem.tsx'
import { useUrlState } from './url-state.ts'

export interface Column<Row> {
  header: string
  render(row: Row): ReactNode
  /** Left out on narrow screens. */
  isExtra?: boolean
  align?: 'left' | 'right'
  width?: number | string
}

interface DataTableProps<Row> {
  /** Names the table for screen readers. */
  caption: string
  /** The path of the API, and the member of its response with the rows. */
  path: string
  rows: string
  /** Filters. Empty ones are not sent. */
  query?: Query
  columns: readonly Column<Row>[]
  rowKey(row: Row): string
  /** Where a row leads. Without it, `onOpen`. */
  href?(row: Row): string
  onOpen?(row: NoInfer<Row>): void
  /** Event types after which the table is read again. */
  live?: readonly string[]
  pollMs?: number | false
  /** Shown without rows; `isFiltered` when there may be rows without the filter. */
  empty: ReactNode
  limit?: number
  /** For long lists: pages follow a cursor, from the newest row on, and cost the same at any depth. */
  hasCursor?: boolean
  /** The buttons of a list with a cursor. Default: for the newest rows first. */
  cursorLabels?: CursorLabels
  /** Shown in place of the list, for an error that the page explains better. Undefined for other errors. */
  explain?(error: ApiError): ReactNode
  /** Called once for each failed read. */
  onError?(error: ApiError): void
  /** The account of a row, for columns with `AccountName`. */
  accountId?(row: Row): string | null
}

interface CursorLabels {
  first: string
  next: string
}

const LIMIT = 25
const NEWEST_FIRST: CursorLabels = { first: 'Newest', next: 'Older' }
/** Rows that stand for those that are being read. */
const PLACEHOLDERS = ['a', 'b', 'c', 'd', 'e', 'f']

/**
 * A list of the API as a table: the server pages it, the address keeps the page, and events refresh it. Arrow keys move between rows.
 * On narrow screens each row is a block of its columns.
 */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const {
    caption,
    path,
    rows: member,
    query = {},
    columns,
    rowKey,
    href,
    onOpen,
    live,
    pollMs,
    empty,
    limit = LIMIT,
    hasCursor = false,
    cursorLabels = NEWEST_FIRST,
    explain,
    onError,
    accountId,
  } = props
  const [{ page: pageText, cursor }, setUrl] = useUrlState(['page', 'cursor'])
  const [, navigate] = useLocation()
  const body = useRef<HTMLTableSectionElement>(null)
  const page = Math.max(1, Number.parseInt(pageText, 10) || 1)
  const { data, error, isPending, isPlaceholderData, refetch } = useRead<List<string, Row>>(
    path,
    { ...query, ...(hasCursor ? { cursor } : { page }), limit },
    { ...(live && { live }), ...(pollMs !== undefined && { pollMs }) },
  )
  // biome-ignore lint/correctness/useExhaustiveDependencies: the callback is another one at each rendering.
  useEffect(() => {
    if (error !== null) onError?.(error)
  }, [error])
  const explained = error === null ? undefined : explain?.(error)
  if (explained !== undefined) return explained
  if (data === undefined && error !== null) {
    return (
      <Problem title={`The ${caption.toLowerCase()} could not be read`} error={error} onRetry={() => void refetch()} />
    )
  }
  const items = data?.[member] ?? []
  if (data !== undefined && items.length === 0 && page === 1 && cursor === '') return <Paper withBorder>{empty}</Paper>

  const open = (row: Row) => (href === undefined ? onOpen?.(row) : navigate(href(row)))
  const onRowClick = (event: MouseEvent, row: Row) => {
    const isControl = event.target instanceof Element && event.target.closest('a, button, input, [role=menu]') !== null
    if (!isControl && window.getSelection()?.toString() === '') open(row)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    const links = [...(body.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])]
    const index = links.indexOf(document.activeElement as HTMLElement)
    if (step === undefined || index === -1) return
    event.preventDefault()
    links[index + step]?.focus()
  }
  const opener = (row: Row, content: ReactNode) => {
    if (href !== undefined) {
      return (
        <Link href={href(row)} data-row className="row-link">
          {content}
        </Link>
      )
    }
    if (onOpen === undefined) return content
    return (
      <button type="button" data-row className="row-link" onClick={() => onOpen(row)}>
        {content}
      </button>
    )
  }

  return (
    <WithAccountNames ids={accountId === undefined ? [] : items.flatMap((row) => accountId(row) ?? [])}>
      {/* One element, because the page puts a larger gap between its children. */}
      <div className="table-and-pages">
        {error !== null && <Problem title="The list is not up to date" error={error} onRetry={() => void refetch()} />}
        <Paper
          withBorder
          className="table-frame"
          data-loading={isPlaceholderData || undefined}
          aria-busy={isPending || isPlaceholderData}
        >
          <Table
            className="data-table"
            verticalSpacing="sm"
            horizontalSpacing="md"
            highlightOnHover={href !== undefined || onOpen !== undefined}
          >
            <caption>
              <VisuallyHidden>{caption}</VisuallyHidden>
            </caption>
            <Table.Thead>
              <Table.Tr>
                {columns.map(({ header, isExtra, align, width }) => (
                  <Table.Th key={header} data-extra={isExtra || undefined} ta={align ?? 'left'} w={width}>
                    {header}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody ref={body} onKeyDown={onKeyDown}>
              {isPending
                ? PLACEHOLDERS.map((key, index) => (
                    <Table.Tr key={key}>
                      {columns.map(({ header, isExtra }) => (
                        <Table.Td key={header} data-extra={isExtra || undefined}>
                          <Skeleton height={14} width={`${40 + ((index * 17 + header.length * 7) % 45)}%`} />
                        </Table.Td>
                      ))}
                    </Table.Tr>
                  ))
                : items.map((row) => (
                    <Table.Tr
                      key={rowKey(row)}
                      className={href || onOpen ? 'row-open' : undefined}
                      onClick={(event) => onRowClick(event, row)}
                    >
                      {columns.map(({ header, render, isExtra, align }, index) => (
                        <Table.Td
                          key={header}
                          data-label={header}
                          data-extra={isExtra || undefined}
                          ta={align ?? 'left'}
                        >
                          {index === 0 ? opener(row, render(row)) : render(row)}
                        </Table.Td>
                      ))}
                    </Table.Tr>
                  ))}
            </Table.Tbody>
          </Table>
        </Paper>
        {data !== undefined && (
          <Pages
            data={data.pagination}
            shown={items.length}
            limit={limit}
            cursorLabels={cursorLabels}
            onPage={(next) => setUrl({ page: next === 1 ? null : String(next) }, { replace: false })}
            {...(hasCursor && { onCursor: (next: string | null) => setUrl({ cursor: next }, { replace: false }) })}
          />
        )}
      </div>
    </WithAccountNames>
  )
}

const number = new Intl.NumberFormat()

function Pages({
  data,
  shown,
  limit,
  cursorLabels,
  onPage,
  onCursor,
}: {
  data: List<string, unknown>['pagination']
  shown: number
  limit: number
  cursorLabels: CursorLabels
  onPage(page: number): void
  /** Given, the pages follow cursors; null is the first page. */
  onCursor?(cursor: string | null): void
}) {
  const { page, total, totalCapped, hasNext, hasPrev, nextCursor } = data
  const first = (page - 1) * limit + 1
  const all = `${number.format(total)}${totalCapped ? '+' : ''}`
  return (
    <Group justify="space-between" px={4} className="pages">
      <Text size="sm" c="dimmed" role="status">
        {shown === 0
          ? `Nothing on page ${number.format(page)} of ${all}`
          : `${number.format(first)}–${number.format(first + shown - 1)} of ${all}`}
      </Text>
      {onCursor !== undefined && (hasNext || hasPrev) && (
        <Group gap="xs" component="nav" aria-label="Pages">
          <Button variant="default" size="xs" disabled={!hasPrev} onClick={() => onCursor(null)}>
            {cursorLabels.first}
          </Button>
          <Button variant="default" size="xs" disabled={!hasNext} onClick={() => onCursor(nextCursor ?? null)}>
            {cursorLabels.next}
          </Button>
        </Group>
      )}
      {onCursor === undefined && (hasNext || hasPrev) && (
        <Group gap="xs" component="nav" aria-label="Pages">
          <ActionIcon
            variant="default"
            size="lg"
            aria-label="Previous page"
            disabled={!hasPrev}
            onClick={() => onPage(page - 1)}
          >
            <IconChevronLeft />
          </ActionIcon>
          <ActionIcon
            variant="default"
            size="lg"
            aria-label="Next page"
            disabled={!hasNext}
            onClick={() => onPage(page + 1)}
          >
            <IconChevronRight />
          </ActionIcon>
        </Group>
      )}
    </Group>
  )
}
