import { Anchor, Group, Paper, SimpleGrid, Text, Title, VisuallyHidden } from '@mantine/core'
import { Link } from 'wouter'
import type { Health, Overview } from '../../api/types.ts'
import { Status, type Tone } from '../../parts/status.tsx'
import { duration } from '../../parts/time.tsx'

interface Tile {
  title: string
  tone: Tone
  state: string
  value: string
  /** Explains the state and, unless all is well, what to do. */
  text: string
  link?: { href: string; label: string }
}

const number = new Intl.NumberFormat()
const count = (amount: number, singular: string, many = `${singular}s`) =>
  `${number.format(amount)} ${amount === 1 ? singular : many}`

/** One tile for each part of the service, those with a problem first. */
export function HealthTiles({ overview, health }: { overview: Overview; health: Health }) {
  const tiles = [
    service(health),
    sync(overview),
    memory(health),
    accounts(overview),
    webhooks(overview),
    outbox(overview),
    ...warnings(health),
  ]
  const rank: Record<Tone, number> = { bad: 0, warn: 1, busy: 2, good: 2, quiet: 3 }
  return (
    <section aria-labelledby="health-heading">
      <VisuallyHidden>
        <Title order={2} id="health-heading">
          Health
        </Title>
      </VisuallyHidden>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
        {tiles
          .toSorted((left, right) => rank[left.tone] - rank[right.tone])
          .map((tile) => (
            <Paper key={tile.title + tile.text} withBorder p="md">
              <Group justify="space-between" wrap="nowrap" mb={6}>
                <Text size="sm" c="dimmed" fw={500}>
                  {tile.title}
                </Text>
                <Status tone={tile.tone}>{tile.state}</Status>
              </Group>
              <Text fz={22} fw={650} lh={1.25}>
                {tile.value}
              </Text>
              <Text size="sm" c="dimmed" mt={4} className="wrap">
                {tile.text}{' '}
                {tile.link !== undefined && (
                  <Anchor component={Link} href={tile.link.href} size="sm" underline="always">
                    {tile.link.label}
                  </Anchor>
                )}
              </Text>
            </Paper>
          ))}
      </SimpleGrid>
    </section>
  )
}

const PARTS = { database: 'database', cache: 'cache', queue: 'queue', pubsub: 'message bus' } as const

function service(health: Health): Tile {
  const down = (Object.keys(PARTS) as (keyof typeof PARTS)[]).filter((part) => !health[part].healthy)
  const [first] = down
  if (first !== undefined) {
    return {
      title: 'Service',
      tone: 'bad',
      state: 'Degraded',
      value: `The ${PARTS[first]} is down`,
      text: `${health[first].problem ?? 'It does not respond.'} Check that it runs and that the service can reach it; the service recovers by itself.`,
      link: { href: '/logs?level=error', label: 'See the errors' },
    }
  }
  const slowest = Math.max(...(Object.keys(PARTS) as (keyof typeof PARTS)[]).map((part) => health[part].latencyMs))
  return {
    title: 'Service',
    tone: 'good',
    state: 'Healthy',
    value: `Up ${duration(health.uptimeSeconds * 1000)}`,
    text: `Database, cache, queue and message bus respond within ${duration(Math.max(1, slowest))}.`,
  }
}

/** Longer than any account waits for its turn on a service that keeps up. */
const MAX_LAG_MS = 120_000

function sync({ sync: { stalledAccounts, greatestLagMs }, accounts: { total } }: Overview): Tile {
  const title = 'Sync lag'
  if (stalledAccounts > 0) {
    return {
      title,
      tone: 'warn',
      state: 'Stalled',
      value: `${count(stalledAccounts, 'account')} stalled`,
      text: 'They could not be checked for a while. The service tries again by itself; its logs say why.',
      link: { href: '/logs?level=warn', label: 'Show the logs' },
    }
  }
  if (greatestLagMs > MAX_LAG_MS) {
    return {
      title,
      tone: 'warn',
      state: 'Late',
      value: `${duration(greatestLagMs)} late`,
      text: 'The service does not keep up with its accounts. Start another instance, or give this one more processor time.',
    }
  }
  return {
    title,
    tone: total === 0 ? 'quiet' : 'good',
    state: total === 0 ? 'Idle' : 'On time',
    value: greatestLagMs < 1000 ? 'No lag' : duration(greatestLagMs),
    text: 'Every mailbox is checked when it is due.',
  }
}

function memory({ memory: { percentage, rssBytes, limitBytes } }: Health): Tile {
  const isLow = percentage > 90
  const used = `${Math.round(rssBytes / 1_000_000).toLocaleString()} of ${Math.round(limitBytes / 1_000_000).toLocaleString()} MB.`
  return {
    title: 'Memory',
    tone: isLow ? 'warn' : 'good',
    state: isLow ? 'Almost full' : 'Enough',
    value: `${Math.round(percentage)} % in use`,
    text: isLow ? `${used} Raise the limit of the container, or start another instance.` : used,
  }
}

function accounts({ accounts: { total, connected, connecting, paused, authError, error } }: Overview): Tile {
  const title = 'Accounts'
  if (authError > 0) {
    return {
      title,
      tone: 'bad',
      state: 'Sign-in needed',
      value: `${count(authError, 'account')} disconnected`,
      text: 'The provider refuses the credentials. Send the owner a link to sign in again.',
      link: { href: '/accounts?status=auth_error', label: 'Show them' },
    }
  }
  if (error > 0) {
    return {
      title,
      tone: 'warn',
      state: 'Failing',
      value: `${count(error, 'account')} cannot sync`,
      text: 'The service tries again by itself. The logs of the account say why.',
      link: { href: '/accounts?status=error', label: 'Show them' },
    }
  }
  const rest = [
    connecting > 0 && `${number.format(connecting)} in their first sync`,
    paused > 0 && `${number.format(paused)} paused`,
  ]
  return {
    title,
    tone: total === 0 ? 'quiet' : 'good',
    state: total === 0 ? 'None yet' : 'Syncing',
    value: total === 0 ? 'No mailbox' : count(connected, 'account'),
    text:
      total === 0
        ? 'Connect one to begin.'
        : [...rest.filter(Boolean), rest.some(Boolean) ? '' : 'All mailboxes are in sync.'].filter(Boolean).join(', '),
  }
}

function webhooks({ endpoints: { total, inactive, unreachable }, hours }: Overview): Tile {
  const title = 'Webhooks'
  if (unreachable > 0) {
    return {
      title,
      tone: 'bad',
      state: 'Unreachable',
      value: `${count(unreachable, 'endpoint')} down`,
      text: 'Deliveries wait without losing an attempt and go on when it responds. Check the application behind it.',
      link: { href: '/webhooks', label: 'Show endpoints' },
    }
  }
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0)
  if (failed > 0) {
    return {
      title,
      tone: 'warn',
      state: 'Failures',
      value: `${count(failed, 'delivery', 'deliveries')} failed`,
      text: 'In the last 24 hours, after every retry. Fix the endpoint, then retry or recover them.',
      link: { href: '/deliveries?status=failed', label: 'Show failures' },
    }
  }
  if (inactive > 0) {
    return {
      title,
      tone: 'warn',
      state: 'Inactive',
      value: `${count(inactive, 'endpoint')} inactive`,
      text: 'Events create no deliveries for it.',
      link: { href: '/webhooks', label: 'Show endpoints' },
    }
  }
  const delivered = hours.reduce((sum, hour) => sum + hour.delivered, 0)
  return {
    title,
    tone: total === 0 ? 'quiet' : 'good',
    state: total === 0 ? 'None yet' : 'Delivering',
    value: total === 0 ? 'No endpoint' : count(total, 'endpoint'),
    text: total === 0 ? 'Add one to receive events.' : `${count(delivered, 'event')} delivered in the last 24 hours.`,
  }
}

function outbox({ outbox: { waiting, uncertain, failed } }: Overview): Tile {
  const title = 'Outbox'
  if (uncertain > 0) {
    return {
      title,
      tone: 'bad',
      state: 'Decide',
      value: `${count(uncertain, 'message')} uncertain`,
      text: 'The connection broke during sending. Decide for each message: it has arrived, or send it again.',
      link: { href: '/outbox?status=uncertain', label: 'Decide' },
    }
  }
  if (failed > 0) {
    return {
      title,
      tone: 'warn',
      state: 'Failed',
      value: `${count(failed, 'message')} not sent`,
      text: 'Refused by the mail server.',
      link: { href: '/outbox?status=failed', label: 'Show why' },
    }
  }
  return {
    title,
    tone: waiting > 0 ? 'busy' : 'good',
    state: waiting > 0 ? 'Sending' : 'Empty',
    value: waiting > 0 ? `${count(waiting, 'message')} waiting` : 'Nothing waits',
    text: waiting > 0 ? 'Sent as fast as the limits of the mail servers allow.' : 'Every message was sent.',
  }
}

/** Other problems that deserve attention, as the service words them. The outbox has a tile of its own. */
function warnings(health: Health): Tile[] {
  return health.warnings
    .filter(({ code }) => code !== 'outbox_uncertain')
    .map(({ code, message, remedy }) => ({
      title: WARNING_TITLES[code] === undefined ? 'Operation' : 'Configuration',
      tone: 'warn',
      state: 'Check',
      value: WARNING_TITLES[code] ?? MEASURED_TITLES[code] ?? 'Something needs attention',
      text: `${message} ${remedy}`,
    }))
}

const WARNING_TITLES: Readonly<Record<string, string>> = {
  keys_beside_data: 'Keys are stored with the data',
  settings_invalid: 'A setting is invalid',
  oauth_incomplete: 'A provider is not complete',
  redirect_refused: 'A provider will refuse sign-ins',
  licence: 'The licence needs attention',
  gmail_push: 'Gmail is polled',
}

const MEASURED_TITLES: Readonly<Record<string, string>> = {
  sync_stalled: 'Accounts are not in sync',
  sync_late: 'Checks are late',
  accounts_unowned: 'Accounts wait for an instance',
  outbox_old: 'Messages to send are late',
  deliveries_old: 'Webhook deliveries are late',
  events_old: 'Events wait for deliveries',
  event_loop_slow: 'The instance is overloaded',
  memory_full: 'Memory is nearly full',
  log_export_dropped: 'Log records were not exported',
}
