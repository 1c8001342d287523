import { Button, Code, Drawer, Stack } from '@mantine/core'
import { useState } from 'react'
import type { AuditEntry } from '../../api/types.ts'
import { CodeBlock, pretty } from '../../parts/code-block.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Fields } from '../../parts/fields.tsx'
import { ChoiceFilter, Filters, TextFilter } from '../../parts/filters.tsx'
import { IconSearch, IconShieldCheck } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { exactTime, Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'

const DAY_MS = 86_400_000
const SINCE = [
  { value: '1', label: 'Last 24 hours' },
  { value: '7', label: 'Last 7 days' },
  { value: '30', label: 'Last 30 days' },
]

const COLUMNS: readonly Column<AuditEntry>[] = [
  { header: 'Action', render: ({ action }) => <Code>{action}</Code> },
  { header: 'Actor', render: ({ actor }) => <span className="wrap">{actor}</span> },
  { header: 'Target', render: ({ target }) => target ?? '–', isExtra: true },
  { header: 'Address', render: ({ address }) => address ?? '–', isExtra: true },
  { header: 'Time', render: ({ timestamp }) => <Time value={timestamp} />, align: 'right' },
]

export default function Audit() {
  const [{ actor, action, target, since }, setUrl] = useUrlState(['actor', 'action', 'target', 'since'])
  const [open, setOpen] = useState<AuditEntry | null>(null)
  const isFiltered = [actor, action, target, since].some((value) => value !== '')
  const clear = () => setUrl({ actor: '', action: '', target: '', since: '' })
  return (
    <Page
      title="Audit"
      description="Who changed what: keys, endpoints, accounts, deliveries, the queue, settings and experiences, and who signed in here."
    >
      <Filters isFiltered={isFiltered} onClear={clear}>
        <TextFilter label="Actor" width={200} value={actor} onChange={(value) => setUrl({ actor: value })} />
        <TextFilter label="Action" width={190} value={action} onChange={(value) => setUrl({ action: value })} />
        <TextFilter label="Target" width={220} value={target} onChange={(value) => setUrl({ target: value })} />
        <ChoiceFilter label="Time" value={since} options={SINCE} onChange={(value) => setUrl({ since: value })} />
      </Filters>
      <DataTable
        caption="Audit log entries"
        path="/audit"
        rows="entries"
        query={{ actor, action, target, since: sinceText(since) }}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        onOpen={setOpen}
        empty={
          isFiltered ? (
            <Empty
              icon={IconSearch}
              title="No entry matches"
              action={
                <Button variant="default" onClick={clear}>
                  Clear filters
                </Button>
              }
            >
              Actors are service, key:… or admin:…, and actions such as endpoint.deleted are matched exactly.
            </Empty>
          ) : (
            <Empty icon={IconShieldCheck} title="Nothing has been changed yet" />
          )
        }
      />
      <Drawer
        closeButtonProps={{ 'aria-label': 'Close' }}
        opened={open !== null}
        onClose={() => setOpen(null)}
        position="right"
        size="lg"
        title={open?.action}
      >
        {open !== null && (
          <Stack>
            <Fields
              items={[
                ['Time', exactTime(open.timestamp)],
                ['Actor', open.actor],
                ['Address', open.address],
                [
                  'Target',
                  open.target === null ? null : <Copyable key="target" value={open.target} label="Copy the target" />,
                ],
                [
                  'Request',
                  open.requestId === null ? null : (
                    <Copyable key="request" value={open.requestId} label="Copy the request id" />
                  ),
                ],
              ]}
            />
            <CodeBlock value={pretty(open.details)} label="Details" />
          </Stack>
        )}
      </Drawer>
    </Page>
  )
}

/** To the start of the hour, so that the same page is not another list every second. */
function sinceText(days: string): string {
  const count = Number(days)
  if (days === '' || !Number.isFinite(count)) return ''
  const since = new Date(Date.now() - count * DAY_MS)
  since.setMinutes(0, 0, 0)
  return since.toISOString()
}
