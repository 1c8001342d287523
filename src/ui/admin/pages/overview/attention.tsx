import { Button, Group, Text } from '@mantine/core'
import { Link } from 'wouter'
import type { Health } from '../../api/types.ts'
import { Section } from '../../parts/section.tsx'
import { count } from './amounts.ts'
import { downParts, isLate, partName, type States } from './part-states.ts'

interface Item {
  tone: 'bad' | 'warn'
  title: string
  /** Explains the problem, and says what to do. */
  text: string
  action?: { href: string; label: string }
}

/** The problems that need a person, the worst first, each with its remedy. Shows nothing while all is well. */
export function Attention(states: States) {
  const items = [...problems(states), ...warnings(states.health)].sort(
    (left, right) => Number(left.tone === 'warn') - Number(right.tone === 'warn'),
  )
  if (items.length === 0) return null
  return (
    <Section title="Needs attention">
      <ul className="attention">
        {items.map(({ tone, title, text, action }) => (
          <li key={title + text}>
            <span className="dot" data-tone={tone} aria-hidden="true" />
            <div className="attention-text">
              <Text size="sm" fw={600}>
                {title}
              </Text>
              <Text size="sm" c="dimmed" className="wrap">
                {text}
              </Text>
            </div>
            {action !== undefined && (
              <Group className="attention-action">
                <Button component={Link} href={action.href} variant="default" size="xs">
                  {action.label}
                </Button>
              </Group>
            )}
          </li>
        ))}
      </ul>
    </Section>
  )
}

function problems(states: States): Item[] {
  const { health, failedDeliveries } = states
  const { accounts, sync, endpoints, outbox, calendars } = states.overview
  const found: Item[] = downParts(health).map((part) => ({
    tone: 'bad',
    title: `The ${partName(part)} is down`,
    text: `${health[part].problem ?? 'It does not respond.'} Check that it runs and that the service can reach it; the service recovers by itself.`,
    action: { href: '/logs?level=error', label: 'See the errors' },
  }))
  const add = (amount: number, item: Item) => {
    if (amount > 0) found.push(item)
  }
  add(outbox.uncertain, {
    tone: 'bad',
    title: `${count(outbox.uncertain, 'message')} uncertain`,
    text: 'The connection broke during sending. Decide for each message: it has arrived, or send it again.',
    action: { href: '/outbox?status=uncertain', label: 'Decide' },
  })
  add(accounts.authError, {
    tone: 'bad',
    title: `${count(accounts.authError, 'account needs', 'accounts need')} a sign-in`,
    text: 'The provider refuses the credentials. Send the owner a link to sign in again.',
    action: { href: '/accounts?status=auth_error', label: 'Show accounts' },
  })
  add(endpoints.unreachable, {
    tone: 'bad',
    title: `${count(endpoints.unreachable, 'endpoint')} down`,
    text: 'Deliveries wait without losing an attempt and go on when it responds. Check the application behind it.',
    action: { href: '/webhooks', label: 'Show endpoints' },
  })
  add(accounts.error, {
    tone: 'warn',
    title: `${count(accounts.error, 'account')} cannot sync`,
    text: 'The service tries again by itself. The page of the account says why.',
    action: { href: '/accounts?status=error', label: 'Show accounts' },
  })
  add(failedDeliveries, {
    tone: 'warn',
    title: `${count(failedDeliveries, 'delivery', 'deliveries')} failed`,
    text: 'In the last 24 hours, after every retry. Fix the endpoint, then retry or recover them.',
    action: { href: '/deliveries?status=failed', label: 'Show failures' },
  })
  add(outbox.failed, {
    tone: 'warn',
    title: `${count(outbox.failed, 'message')} not sent`,
    text: 'Refused by the mail server.',
    action: { href: '/outbox?status=failed', label: 'Show why' },
  })
  add(calendars.failing, {
    tone: 'warn',
    title: `${count(calendars.failing, 'calendar')} cannot be read`,
    text: 'The service tries again by itself. The calendars of each account say why.',
    action: { href: '/accounts', label: 'Show accounts' },
  })
  add(isLate(states) ? sync.greatestLagMs : 0, {
    tone: 'warn',
    title: 'Mailboxes are checked late',
    text: 'The service does not keep up with its accounts. Start another instance, or give this one more processor time.',
    action: { href: '/queue', label: 'Show the queue' },
  })
  return found
}

/** Codes of warnings that the strip or another item shows already. */
const KNOWN = ['outbox_uncertain', 'sync_stalled', 'sync_late']

/** Other problems that deserve attention, as the service words them. */
function warnings(health: Health): Item[] {
  return health.warnings
    .filter(({ code }) => !KNOWN.includes(code))
    .map(({ code, message, remedy }) => ({
      tone: 'warn',
      title: TITLES[code] ?? 'Something needs attention',
      text: `${message} ${remedy}`,
      ...(SETTINGS.includes(code) && { action: { href: '/settings', label: 'Show settings' } }),
    }))
}

const SETTINGS = ['keys_beside_data', 'settings_invalid', 'oauth_incomplete', 'redirect_refused', 'licence']

const TITLES: Readonly<Record<string, string>> = {
  keys_beside_data: 'Keys are stored with the data',
  settings_invalid: 'A setting is invalid',
  oauth_incomplete: 'A provider is not complete',
  redirect_refused: 'A provider will refuse sign-ins',
  licence: 'The licence needs attention',
  gmail_push: 'Gmail is polled',
  accounts_unowned: 'Accounts wait for an instance',
  outbox_old: 'Messages to send are late',
  deliveries_old: 'Webhook deliveries are late',
  events_old: 'Events wait for deliveries',
  event_loop_slow: 'The instance is overloaded',
  memory_full: 'Memory is nearly full',
  log_export_dropped: 'Log records were not exported',
}
