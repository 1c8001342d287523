import { Alert, Button, Group, Skeleton, Stack, Text, Timeline } from '@mantine/core'
import { Link } from 'wouter'
import { curlCommand } from '../../../../platform/formats/curl.ts'
import { api } from '../../api/client.ts'
import { useAction, useRead } from '../../api/queries.ts'
import type { Delivery } from '../../api/types.ts'
import { useAccountNames } from '../../parts/account-names.tsx'
import { CodeBlock, pretty } from '../../parts/code-block.tsx'
import { Copyable, CopyButton } from '../../parts/copy.tsx'
import { DeliveryStatus } from '../../parts/delivery.tsx'
import { describeEvent } from '../../parts/event-text.ts'
import { Fields } from '../../parts/fields.tsx'
import { IconCheck, IconClock, IconRotateCcw, IconTriangleAlert } from '../../parts/icons.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Section } from '../../parts/section.tsx'
import { duration, Time } from '../../parts/time.tsx'

const PARENT = { href: '/deliveries', label: 'Deliveries' }

export default function DeliveryPage({ deliveryId }: { deliveryId: string }) {
  const path = `/webhooks/deliveries/${deliveryId}`
  const { data: delivery, error, refetch } = useRead<Delivery>(path, {}, { live: ['webhook.'], pollMs: 5000 })
  const retry = useAction(() => api.post<Delivery>(`${path}/retry`), {
    invalidates: ['/webhooks', '/admin'],
    done: 'The delivery is sent again.',
  })
  const accountId = delivery?.accountId ?? null
  const names = useAccountNames(accountId === null ? [] : [accountId])
  if (delivery === undefined) {
    return (
      <Page title="Delivery" parent={PARENT}>
        {error === null ? (
          <Skeleton height={320} />
        ) : (
          <Problem title="This delivery cannot be shown" error={error} onRetry={() => void refetch()} />
        )}
      </Page>
    )
  }
  return (
    <Page
      title={delivery.eventType}
      parent={PARENT}
      badge={<DeliveryStatus status={delivery.status} />}
      description={
        <span className="wrap">
          {[describeEvent(delivery.payload?.data), delivery.url].filter(Boolean).join(' · ')}
        </span>
      }
      actions={
        <>
          <CopyButton value={formatCurl(delivery)}>Copy as curl</CopyButton>
          <Button leftSection={<IconRotateCcw size={16} />} loading={retry.isPending} onClick={() => retry.mutate()}>
            Send again
          </Button>
        </>
      }
    >
      {delivery.status === 'failed' && (
        <Alert color="red" icon={<IconTriangleAlert />} title="Every attempt has failed">
          {delivery.error?.message ?? `The endpoint responded with ${delivery.responseStatus}.`}{' '}
          {chooseRemedy(delivery)}
        </Alert>
      )}
      <Section title="Attempts">
        {delivery.attempts.length === 0 ? (
          <Text size="sm" c="dimmed">
            No attempt was made yet
            {delivery.nextAttemptAt !== null && (
              <>
                ; the first is due <Time value={delivery.nextAttemptAt} />
              </>
            )}
            .
          </Text>
        ) : (
          <Timeline bulletSize={26} lineWidth={2} active={delivery.attempts.length}>
            {delivery.attempts.map((attempt) => {
              const isGood = attempt.error === null
              return (
                <Timeline.Item
                  key={attempt.attempt}
                  color={isGood ? 'teal.8' : 'red.8'}
                  bullet={isGood ? <IconCheck size={14} /> : <IconTriangleAlert size={14} />}
                  title={`Attempt ${attempt.attempt}: ${attempt.responseStatus === null ? (attempt.error?.kind ?? 'no response') : `HTTP ${attempt.responseStatus}`}`}
                >
                  <Text size="sm" c="dimmed">
                    <Time value={attempt.startedAt} />, took {duration(attempt.durationMs)}
                  </Text>
                  {attempt.error !== null && (
                    <Text size="sm" className="wrap">
                      {attempt.error.message}
                    </Text>
                  )}
                </Timeline.Item>
              )
            })}
            {delivery.nextAttemptAt !== null && (
              <Timeline.Item color="gray" bullet={<IconClock size={14} />} title="Next attempt">
                <Text size="sm" c="dimmed">
                  <Time value={delivery.nextAttemptAt} />
                </Text>
              </Timeline.Item>
            )}
          </Timeline>
        )}
      </Section>
      <Section title="Request">
        <Stack gap="sm">
          {Object.keys(delivery.requestHeaders).length > 0 && (
            <CodeBlock label="Request headers" value={headersText(delivery.requestHeaders)} />
          )}
          {delivery.payload === null ? (
            <Text size="sm" c="dimmed">
              The event was erased, so its body is no longer stored.
            </Text>
          ) : (
            <CodeBlock label="Request body" value={pretty(delivery.payload)} />
          )}
        </Stack>
      </Section>
      {delivery.attempts.length > 0 && (
        <Section
          title="Response"
          description={
            delivery.responseStatus === null
              ? 'There was no response.'
              : `Status ${delivery.responseStatus}, the first 16 KB of the body`
          }
        >
          {delivery.responseBody ? (
            <CodeBlock label="Response body" value={pretty(delivery.responseBody)} />
          ) : (
            <Text size="sm" c="dimmed">
              The body is empty.
            </Text>
          )}
        </Section>
      )}
      <Section title="Details">
        <Fields
          items={[
            ['Delivery', <Copyable key="id" value={delivery.id} label="Copy the delivery id" />],
            [
              'Event',
              <Group key="event" gap="xs">
                <Copyable value={delivery.eventId} label="Copy the event id" />
                <Link href={`/events/${delivery.eventId}`} className="inline-link">
                  The event and all its deliveries
                </Link>
              </Group>,
            ],
            [
              'Endpoint',
              <Link
                key="endpoint"
                href={`/webhooks/${encodeURIComponent(delivery.endpointId)}`}
                className="inline-link"
              >
                {delivery.url}
              </Link>,
            ],
            [
              'Account',
              delivery.accountId === null ? null : (
                <Link key="account" href={`/accounts/${delivery.accountId}`} className="inline-link">
                  {names[delivery.accountId] ?? delivery.accountId}
                </Link>
              ),
            ],
            ['Caused by', TRIGGERS[delivery.trigger]],
            ['Created', <Time key="created" value={delivery.createdAt} />],
            ['Delivered', <Time key="delivered" value={delivery.deliveredAt} />],
          ]}
        />
      </Section>
    </Page>
  )
}

const TRIGGERS: Record<Delivery['trigger'], string> = {
  event: 'An event',
  retry: 'A retry by hand',
  recover: 'A recovery',
  test: 'A test',
  'test-message': 'A test with a stored message',
}

function headersText(headers: Delivery['requestHeaders']): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')
}

function chooseRemedy({ error, responseStatus }: Delivery): string {
  if (responseStatus === 401 || responseStatus === 403)
    return 'Check that the application accepts the signature or the headers of the endpoint.'
  if (responseStatus === 404 || responseStatus === 410) return 'Check the path of the URL.'
  if (responseStatus !== null && responseStatus >= 500)
    return 'The logs of the application say why. Then send the delivery again.'
  if (error?.kind === 'refused_address') return 'PRIVATE_TARGETS decides which private addresses may be reached.'
  if (error?.kind === 'dns') return 'Check the host of the URL.'
  if (error?.kind === 'tls') return 'Check the certificate of the host.'
  return 'Check that the application is reachable from here, then send the delivery again.'
}

function formatCurl({ url, requestHeaders, payload }: Delivery): string {
  const { 'content-type': _, ...headers } = requestHeaders
  return curlCommand({ method: 'POST', url, headers, body: JSON.stringify(payload ?? {}) })
}
