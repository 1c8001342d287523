import { Alert, Badge, Button, Group, Menu, Skeleton, Text } from '@mantine/core'
import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Delivery, Endpoint, Rates } from '../../api/types.ts'
import { HourChart } from '../../parts/chart.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Copyable } from '../../parts/copy.tsx'
import { Fields } from '../../parts/fields.tsx'
import {
  IconChevronDown,
  IconCircleX,
  IconHistory,
  IconKeyRound,
  IconPause,
  IconPlay,
  IconSend,
  IconTrash,
  IconZap,
} from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { SecretDialog } from '../../parts/secret-dialog.tsx'
import { Section } from '../../parts/section.tsx'
import { duration, Time } from '../../parts/time.tsx'
import { EndpointDialog } from './endpoint-dialog.tsx'
import { EndpointStatus } from './endpoint-status.tsx'

const PARENT = { href: '/webhooks', label: 'Webhooks' }

type RatePoint = Rates['hours'][number]
const SERIES = [
  { name: 'Succeeded', color: 'var(--portal-good)', value: (hour: RatePoint) => hour.delivered },
  { name: 'Waiting', color: 'var(--portal-quiet)', value: (hour: RatePoint) => hour.waiting },
  { name: 'Failed', color: 'var(--portal-bad)', value: (hour: RatePoint) => hour.failed },
]

export default function EndpointPage({ endpointId }: { endpointId: string }) {
  const path = `/webhooks/endpoints/${encodeURIComponent(endpointId)}`
  const { data: endpoint, error, refetch } = useRead<Endpoint>(path, {}, { live: ['webhook.'] })
  const rates = useRead<Rates>('/admin/delivery-rates', { endpointId }, { live: ['message.', 'mailbox.', 'webhook.'] })
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'delete' | null>(null)
  const [secret, setSecret] = useState<string>()
  const [, navigate] = useLocation()
  const test = useAction(() => api.post<Delivery>(`${path}/test`), {
    invalidates: ['/webhooks', '/admin'],
    onDone: (delivery) => navigate(`/deliveries/${delivery.id}`),
  })
  const setActive = useAction((isActive: boolean) => api.put<Endpoint>(path, { isActive }), {
    invalidates: ['/webhooks', '/admin/overview'],
    done: ({ isActive }) => (isActive ? 'The endpoint is active.' : 'The endpoint is inactive.'),
  })
  const rotate = useAction(
    async () => {
      const next = newSecret()
      await api.put(path, { secret: next })
      return next
    },
    {
      invalidates: ['/webhooks'],
      onDone(next) {
        setDialog(null)
        setSecret(next)
      },
    },
  )
  const remove = useAction(() => api.delete(path), {
    invalidates: ['/webhooks', '/admin/overview'],
    removes: path,
    done: 'The endpoint was deleted.',
    onDone: () => navigate('/webhooks'),
  })
  if (endpoint === undefined) {
    return (
      <Page title="Webhook endpoint" parent={PARENT}>
        {error === null ? (
          <Skeleton height={320} />
        ) : (
          <Problem title="This endpoint cannot be shown" error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    )
  }
  const { isActive, circuit, eventTypes } = endpoint
  const totals = (rates.data?.hours ?? []).reduce(
    (sum, { delivered, failed }) => ({ delivered: sum.delivered + delivered, failed: sum.failed + failed }),
    { delivered: 0, failed: 0 },
  )
  return (
    <Page
      title={endpoint.url}
      parent={PARENT}
      badge={<EndpointStatus endpoint={endpoint} />}
      actions={
        <>
          <Button
            variant="default"
            leftSection={<IconZap size={16} />}
            loading={test.isPending}
            onClick={() => test.mutate()}
          >
            Send a test event
          </Button>
          <Button variant="default" onClick={() => setDialog('edit')}>
            Edit
          </Button>
          <Menu position="bottom-end" width={230}>
            <Menu.Target>
              <Button variant="default" rightSection={<IconChevronDown size={16} />}>
                More
              </Button>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item
                leftSection={<IconSend size={16} />}
                component={Link}
                href={`/deliveries?endpointId=${encodeURIComponent(endpoint.id)}`}
              >
                Deliveries
              </Menu.Item>
              <Menu.Item
                leftSection={<IconHistory size={16} />}
                component={Link}
                href={`/deliveries?endpointId=${encodeURIComponent(endpoint.id)}&recover=1`}
              >
                Recover missed events
              </Menu.Item>
              <Menu.Item leftSection={<IconKeyRound size={16} />} onClick={() => setDialog('rotate')}>
                {endpoint.hasSecret ? 'Rotate the secret' : 'Sign the requests'}
              </Menu.Item>
              <Menu.Item
                leftSection={isActive ? <IconPause size={16} /> : <IconPlay size={16} />}
                onClick={() => setActive.mutate(!isActive)}
              >
                {isActive ? 'Deactivate' : 'Activate'}
              </Menu.Item>
              <Menu.Divider />
              <Menu.Item color="red" leftSection={<IconTrash size={16} />} onClick={() => setDialog('delete')}>
                Delete
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </>
      }
    >
      {!isActive && (
        <Alert color="orange" icon={<IconPause />} title="This endpoint is inactive">
          Events create no deliveries for it, and those that were pending wait. Activate it, then recover the events
          that it missed.
          <Group mt="sm">
            <Button size="compact-sm" loading={setActive.isPending} onClick={() => setActive.mutate(true)}>
              Activate
            </Button>
          </Group>
        </Alert>
      )}
      {isActive && circuit.state !== 'closed' && (
        <Alert color="red" icon={<IconCircleX />} title="The endpoint does not respond">
          {circuit.failures} attempts in a row have failed, so deliveries wait without using up their attempts. The next
          one is tried <Time value={circuit.nextProbeAt} none="soon" />. Check the application, then send a test event.
        </Alert>
      )}
      <Section title="Deliveries" description={rateText(totals)}>
        {rates.data === undefined ? (
          <Skeleton height={200} />
        ) : (
          <HourChart label="Deliveries of each of the last 24 hours" points={rates.data.hours} series={SERIES} />
        )}
      </Section>
      <Section title="Settings">
        <Fields
          items={[
            ['Id', <Copyable key="id" value={endpoint.id} label="Copy the id" />],
            [
              'Events',
              eventTypes.length === 0 || eventTypes.includes('*') ? (
                'All'
              ) : (
                <Group key="events" gap={6}>
                  {eventTypes.map((type) => (
                    <Badge key={type} variant="default" radius="sm" tt="none" fw={500}>
                      {type}
                    </Badge>
                  ))}
                </Group>
              ),
            ],
            ['Signature', endpoint.hasSecret ? 'Signed (Standard Webhooks)' : 'Not signed'],
            [
              'Retries',
              endpoint.retryCount === 0
                ? 'None'
                : `${endpoint.retryCount}, ${endpoint.retryStrategy === 'fixed' ? 'each' : 'the first'} after ${duration(endpoint.retryDelayMs)}`,
            ],
            ['Timeout', duration(endpoint.timeoutMs)],
            ['Headers', Object.keys(endpoint.headers).join(', ') || 'None'],
            ['Last success', <Time key="last" value={endpoint.lastDeliveryAt} none="never" />],
            ['Created', <Time key="created" value={endpoint.createdAt} />],
          ]}
        />
      </Section>
      <EndpointDialog endpoint={endpoint} isOpen={dialog === 'edit'} onClose={() => setDialog(null)} />
      <SecretDialog secret={secret} title="The signing secret" label="Secret" onClose={() => setSecret(undefined)} />
      <Confirm
        isOpen={dialog === 'rotate'}
        onClose={() => setDialog(null)}
        onConfirm={() => rotate.mutate()}
        isRunning={rotate.isPending}
        title={endpoint.hasSecret ? 'Rotate the secret?' : 'Sign the requests?'}
        action={endpoint.hasSecret ? 'Rotate' : 'Create a secret'}
        isDangerous={false}
      >
        {endpoint.hasSecret
          ? 'A new secret is shown once. The previous one keeps signing beside it for 24 hours, so that your application can change without a gap.'
          : 'A secret is shown once. Requests are signed with it from now on.'}
      </Confirm>
      <Confirm
        isOpen={dialog === 'delete'}
        onClose={() => setDialog(null)}
        onConfirm={() => remove.mutate()}
        isRunning={remove.isPending}
        title="Delete this endpoint?"
        action="Delete the endpoint"
        typed={new URL(endpoint.url).host}
      >
        Pending deliveries are cancelled. Events continue to be recorded, but not for this endpoint. This cannot be
        undone.
        <Text size="sm" mt="xs" className="wrap" c="dimmed">
          {endpoint.url}
        </Text>
      </Confirm>
    </Page>
  )
}

/** 256 random bits in the form of Standard Webhooks. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  return `whsec_${btoa(String.fromCharCode(...bytes))}`
}

function rateText({ delivered, failed }: { delivered: number; failed: number }): string {
  const ended = delivered + failed
  if (ended === 0) return 'Nothing was delivered in the last 24 hours.'
  const rate = (100 * delivered) / ended
  return `${rate === 100 ? '100' : rate.toFixed(1)} % of ${ended.toLocaleString()} succeeded in the last 24 hours.`
}
