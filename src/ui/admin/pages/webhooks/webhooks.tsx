import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Endpoint } from '../../api/types.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { IconPlus, IconWebhook } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { Time } from '../../parts/time.tsx'
import { useUrlState } from '../../parts/url-state.ts'
import { EndpointDialog } from './endpoint-dialog.tsx'
import { EndpointStatus } from './endpoint-status.tsx'

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    header: 'URL',
    render: ({ url }) => (
      <Text span inherit fw={550} className="wrap">
        {url}
      </Text>
    ),
  },
  { header: 'State', render: (endpoint) => <EndpointStatus endpoint={endpoint} /> },
  { header: 'Events', render: ({ eventTypes }) => eventsText(eventTypes), isExtra: true },
  { header: 'Last success', render: ({ lastDeliveryAt }) => <Time value={lastDeliveryAt} none="never" /> },
]

function eventsText(types: readonly string[]): string {
  if (types.length === 0 || types.includes('*')) return 'All'
  const [first = '', second] = types
  if (types.length <= 2) return [first, second].filter(Boolean).join(', ')
  return `${first} and ${types.length - 1} more`
}

export default function Webhooks() {
  const [{ create }, setUrl] = useUrlState(['create'])
  const [created, setCreated] = useState<Endpoint | null>(null)
  const [, navigate] = useLocation()
  const button = (
    <Button leftSection={<IconPlus size={16} />} onClick={() => setUrl({ create: '1' })}>
      Add an endpoint
    </Button>
  )
  return (
    <Page
      title="Webhooks"
      description="Addresses of your application that receive events as signed requests, each at least once. The sequence in an event gives the order."
      actions={button}
    >
      <DataTable
        caption="Endpoints"
        path="/webhooks/endpoints"
        rows="endpoints"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        href={({ id }) => `/webhooks/${encodeURIComponent(id)}`}
        live={['webhook.']}
        empty={
          <Empty icon={IconWebhook} title="No endpoint yet" action={button}>
            Add the URL at which your application receives events, then send a test event to it.
          </Empty>
        }
      />
      <EndpointDialog isOpen={create !== ''} onClose={() => setUrl({ create: '' })} onSaved={setCreated} />
      <SecretDialog
        secret={created?.secret}
        title="The signing secret"
        label="Secret"
        onClose={() => {
          if (created !== null) navigate(`/webhooks/${encodeURIComponent(created.id)}`)
          setCreated(null)
        }}
      />
    </Page>
  )
}
