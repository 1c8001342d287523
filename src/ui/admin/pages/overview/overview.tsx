import { Anchor, Button, SimpleGrid, Skeleton, Stack, Text } from '@mantine/core'
import { Link } from 'wouter'
import { ROOT } from '../../api/client.ts'
import { useRead } from '../../api/queries.ts'
import type { Overview as Data, Health } from '../../api/types.ts'
import { HourChart } from '../../parts/chart.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Section } from '../../parts/section.tsx'
import { FirstSteps } from './first-steps.tsx'
import { HealthTiles } from './health-tiles.tsx'

type HourPoint = Data['hours'][number]

const MAIL = [
  { name: 'Received', color: 'var(--portal-busy)', value: (hour: HourPoint) => hour.received },
  { name: 'Sent', color: 'var(--portal-good)', value: (hour: HourPoint) => hour.sent },
]
const DELIVERIES = [
  { name: 'Succeeded', color: 'var(--portal-good)', value: (hour: HourPoint) => hour.delivered },
  { name: 'Waiting', color: 'var(--portal-quiet)', value: (hour: HourPoint) => hour.waiting },
  { name: 'Failed', color: 'var(--portal-bad)', value: (hour: HourPoint) => hour.failed },
]

export default function Overview() {
  const overview = useRead<Data>('/admin/overview', {}, { live: ['account.', 'message.', 'webhook.'], pollMs: 15_000 })
  const health = useRead<{ data: Health }>('/health/detailed', {}, { pollMs: 15_000 })
  const error = overview.error ?? health.error
  const data = overview.data
  const state = health.data?.data
  return (
    <Page
      title="Overview"
      description="How the service is doing, and what needs your attention."
      actions={
        <>
          <Button component="a" href={new URL('docs', ROOT).href} target="_blank" rel="noreferrer" variant="default">
            API reference
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
          onRetry={() => void Promise.all([overview.refetch(), health.refetch()])}
        />
      )}
      {data !== undefined && state !== undefined ? (
        <>
          <FirstSteps overview={data} health={state} />
          <HealthTiles overview={data} health={state} />
        </>
      ) : (
        error === null && (
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
            {['a', 'b', 'c', 'd', 'e', 'f'].map((key) => (
              <Skeleton key={key} height={116} radius="md" />
            ))}
          </SimpleGrid>
        )
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Mail" actions={<SmallLink href="/accounts">Accounts</SmallLink>}>
          {data === undefined ? (
            <Skeleton height={200} />
          ) : (
            <HourChart
              label="Messages received and sent in each of the last 24 hours"
              points={data.hours}
              series={MAIL}
            />
          )}
        </Section>
        <Section title="Webhook deliveries" actions={<SmallLink href="/deliveries">Deliveries</SmallLink>}>
          {data === undefined ? (
            <Skeleton height={200} />
          ) : (
            <HourChart
              label="Webhook deliveries of each of the last 24 hours"
              points={data.hours}
              series={DELIVERIES}
            />
          )}
        </Section>
      </SimpleGrid>
      {state !== undefined && (
        <Stack gap={2}>
          <Text size="xs" c="dimmed">
            Posthorn {state.version} · instance {state.instance} ·{' '}
            {state.database.engine === 'sqlite' ? 'SQLite' : 'PostgreSQL'}
          </Text>
        </Stack>
      )}
    </Page>
  )
}

function SmallLink({ href, children }: { href: string; children: string }) {
  return (
    <Anchor component={Link} href={href} size="sm">
      {children}
    </Anchor>
  )
}
