import { Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { Link } from 'wouter'
import type { Activity, ActivityPeriod } from '../../api/types.ts'
import { Sparkline } from '../../parts/sparkline.tsx'
import { duration } from '../../parts/time.tsx'
import { formatNumber, formatShare } from './amounts.ts'

interface Tile {
  name: string
  value: string
  /** Explains the value. */
  note: string
  href: string
  values: (number | null)[]
}

/** The counts of the last seven days, each with a small chart and a link to the list behind it. */
export function ActivityTiles({ activity }: { activity: Activity }) {
  return (
    <section aria-labelledby="tiles-heading">
      <Title order={2} size="h5" mb="xs" id="tiles-heading">
        Last seven days
      </Title>
      <SimpleGrid cols={{ base: 2, md: 3, lg: 5 }} spacing="md">
        {tiles(activity).map(({ name, value, note, href, values }) => (
          <Paper key={name} withBorder component={Link} href={href} className="tile">
            <Text size="sm" c="dimmed" fw={500}>
              {name}
            </Text>
            <Text className="tile-value">{value}</Text>
            <Text size="xs" c="dimmed">
              {note}
            </Text>
            <Sparkline values={values} />
          </Paper>
        ))}
      </SimpleGrid>
    </section>
  )
}

function tiles({ periods, latencyP95Ms }: Activity): Tile[] {
  const amount = (name: 'received' | 'sent' | 'booked') => ({
    value: formatNumber(sum(periods, name)),
    note: `${formatNumber(periods.at(-1)?.[name] ?? 0)} today`,
    values: periods.map((period) => period[name]),
  })
  const delivered = sum(periods, 'delivered')
  const ended = delivered + sum(periods, 'failed')
  return [
    { name: 'Received', href: '/events?type=message.received', ...amount('received') },
    { name: 'Sent', href: '/events?type=message.sent', ...amount('sent') },
    {
      name: 'Delivery success',
      href: '/deliveries',
      value: ended === 0 ? '–' : formatShare(delivered, ended),
      note: ended === 0 ? 'Nothing was delivered' : `of ${formatNumber(ended)} deliveries`,
      values: periods.map((period) => successRate(period)),
    },
    {
      name: 'Delivery latency',
      href: '/deliveries?status=success',
      value: latencyP95Ms === null ? '–' : duration(latencyP95Ms),
      note: latencyP95Ms === null ? 'Nothing was delivered' : '95 % arrived within this time',
      values: periods.map((period) => period.latencyP95Ms),
    },
    { name: 'Bookings', href: '/bookings?view=list', ...amount('booked') },
  ]
}

function sum(periods: readonly ActivityPeriod[], name: 'received' | 'sent' | 'booked' | 'delivered' | 'failed') {
  return periods.reduce((total, period) => total + (period[name] ?? 0), 0)
}

function successRate({ delivered, failed }: ActivityPeriod): number | null {
  const ended = (delivered ?? 0) + (failed ?? 0)
  return ended === 0 ? null : (100 * (delivered ?? 0)) / ended
}
