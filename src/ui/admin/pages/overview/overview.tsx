import './overview.css'
import { Anchor, Button, SimpleGrid, Skeleton, Text } from '@mantine/core'
import { Link } from 'wouter'
import { ROOT } from '../../api/client.ts'
import { useRead } from '../../api/queries.ts'
import type { Activity, ActivityPeriod, Overview as Data, Health } from '../../api/types.ts'
import { HourChart } from '../../parts/chart.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Section } from '../../parts/section.tsx'
import { duration } from '../../parts/time.tsx'
import { Attention } from './attention.tsx'
import { Checklist } from './checklist.tsx'
import { dayStarts, hourStarts } from './periods.ts'
import { StatusStrip } from './strip.tsx'
import { ActivityTiles } from './tiles.tsx'

const MAIL = [
  { name: 'Received', color: 'var(--portal-busy)', value: ({ received }: ActivityPeriod) => received ?? 0 },
  { name: 'Sent', color: 'var(--portal-good)', value: ({ sent }: ActivityPeriod) => sent ?? 0 },
]
const DELIVERIES = [
  { name: 'Succeeded', color: 'var(--portal-good)', value: ({ delivered }: ActivityPeriod) => delivered ?? 0 },
  { name: 'Failed', color: 'var(--portal-bad)', value: ({ failed }: ActivityPeriod) => failed ?? 0 },
]

const POLL_MS = 15_000
const LIVE = ['account.', 'message.', 'booking.', 'webhook.']

export default function Overview() {
  const options = { live: LIVE, pollMs: POLL_MS }
  const overview = useRead<Data>('/admin/overview', {}, options)
  const days = useRead<Activity>('/admin/activity', { starts: dayStarts(new Date()).join() }, options)
  const hours = useRead<Activity>('/admin/activity', { starts: hourStarts(Date.now()).join() }, options)
  const health = useRead<{ data: Health }>('/health/detailed', {}, { pollMs: POLL_MS })
  const all = [overview, days, hours, health]
  const error = all.find((read) => read.error !== null)?.error ?? null
  const data = overview.data
  const state = health.data?.data
  const failedDeliveries = (hours.data?.periods ?? []).reduce((sum, { failed }) => sum + (failed ?? 0), 0)
  return (
    <Page
      title="Overview"
      description="How the service is doing, and what needs your attention."
      actions={
        <>
          <Button component="a" href={new URL('docs', ROOT).href} target="_blank" rel="noreferrer" variant="default">
            Documentation
          </Button>
          <Button component={Link} href="/accounts?connect=1">
            Connect a mailbox
          </Button>
        </>
      }
    >
      {error !== null && (
        <Problem
          title="The state of the service could not be read"
          error={error}
          onRetry={() => void Promise.all(all.map((read) => read.refetch()))}
        />
      )}
      {data !== undefined && <Checklist overview={data} />}
      {data !== undefined && state !== undefined ? (
        <>
          <StatusStrip overview={data} health={state} failedDeliveries={failedDeliveries} />
          <Attention overview={data} health={state} failedDeliveries={failedDeliveries} />
        </>
      ) : (
        error === null && <Skeleton height={72} radius="md" />
      )}
      {days.data === undefined ? error === null && <Skeleton height={140} /> : <ActivityTiles activity={days.data} />}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Mail" actions={<SmallLink href="/events?type=message.received">Events</SmallLink>}>
          <Hours label="Messages received and sent in each of the last 24 hours" activity={hours.data} series={MAIL} />
        </Section>
        <Section title="Webhook deliveries" actions={<SmallLink href="/deliveries">Deliveries</SmallLink>}>
          <Hours
            label="Webhook deliveries that ended in each of the last 24 hours"
            activity={hours.data}
            series={DELIVERIES}
          />
        </Section>
      </SimpleGrid>
      {state !== undefined && (
        <Text size="xs" c="dimmed">
          Posthorn {state.version} · instance {state.instance} ·{' '}
          {state.database.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'} · up {duration(state.uptimeSeconds * 1000)} ·{' '}
          {memoryText(state.memory)}
        </Text>
      )}
    </Page>
  )
}

function Hours({ label, activity, series }: { label: string; activity: Activity | undefined; series: typeof MAIL }) {
  if (activity === undefined) return <Skeleton height={200} />
  return <HourChart label={label} points={activity.periods} series={series} />
}

const megabytes = (bytes: number) => Math.round(bytes / 1_000_000).toLocaleString()

function memoryText({ limit, limitBytes, rssBytes, heapUsedBytes }: Health['memory']): string {
  if (limit === 'container') return `${megabytes(rssBytes)} of ${megabytes(limitBytes)} MB`
  return `${megabytes(rssBytes)} MB, heap ${megabytes(heapUsedBytes)} of ${megabytes(limitBytes)} MB`
}

function SmallLink({ href, children }: { href: string; children: string }) {
  return (
    <Anchor component={Link} href={href} size="sm">
      {children}
    </Anchor>
  )
}
