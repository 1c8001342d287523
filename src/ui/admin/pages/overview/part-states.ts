import type { Health, Overview } from '../../api/types.ts'
import type { Tone } from '../../parts/status.tsx'
import { count } from './amounts.ts'

/** One part of the service, in a few words. */
interface PartState {
  name: string
  tone: Tone
  state: string
  href: string
}

const PARTS = { database: 'database', cache: 'cache', queue: 'queue', pubsub: 'message bus' } as const
/** Longer than any account waits for its turn on a service that keeps up. */
const MAX_LAG_MS = 120_000
/** Right after a start every account waits for its first check. */
const STARTED_SECONDS = 120

export interface States {
  overview: Overview
  health: Health
  /** Deliveries that failed in the last 24 hours, after every retry. */
  failedDeliveries: number
}

export function downParts(health: Health): (keyof typeof PARTS)[] {
  return (Object.keys(PARTS) as (keyof typeof PARTS)[]).filter((part) => !health[part].healthy)
}

export const partName = (part: keyof typeof PARTS): string => PARTS[part]

export function isLate({ overview, health }: States): boolean {
  return health.uptimeSeconds > STARTED_SECONDS && overview.sync.greatestLagMs > MAX_LAG_MS
}

/** The state of each part of the service, in this order. */
export function partStates(states: States): PartState[] {
  const service = serviceState(states.health)
  return [
    { name: 'Service', href: '/logs?level=error', ...service },
    { name: 'Sync', href: '/accounts', ...syncState(states) },
    { name: 'Webhooks', href: '/webhooks', ...webhooksState(states) },
    { name: 'Outbox', href: '/outbox', ...outboxState(states.overview) },
    { name: 'Calendars', href: '/accounts', ...calendarsState(states.overview) },
  ]
}

type State = Pick<PartState, 'tone' | 'state'>

function serviceState(health: Health): State {
  const [first] = downParts(health)
  if (first === undefined) return { tone: 'good', state: 'Healthy' }
  return { tone: 'bad', state: `The ${PARTS[first]} is down` }
}

function syncState(states: States): State {
  const { total, connected, connecting, authError, error } = states.overview.accounts
  if (total === 0) return { tone: 'quiet', state: 'No mailbox' }
  if (authError > 0) return { tone: 'bad', state: `${count(authError, 'sign-in')} needed` }
  if (error > 0) return { tone: 'warn', state: `${count(error, 'mailbox fails', 'mailboxes fail')}` }
  if (isLate(states)) return { tone: 'warn', state: 'Late' }
  if (connecting > 0) return { tone: 'busy', state: `First sync of ${count(connecting, 'mailbox', 'mailboxes')}` }
  if (connected === 0) return { tone: 'quiet', state: 'Paused' }
  return { tone: 'good', state: `${count(connected, 'mailbox', 'mailboxes')} in sync` }
}

function webhooksState({ overview: { endpoints, deliveries }, failedDeliveries }: States): State {
  if (endpoints.total === 0) return { tone: 'quiet', state: 'No endpoint' }
  if (endpoints.unreachable > 0) return { tone: 'bad', state: `${count(endpoints.unreachable, 'endpoint')} down` }
  if (failedDeliveries > 0)
    return { tone: 'warn', state: `${count(failedDeliveries, 'delivery', 'deliveries')} failed` }
  if (endpoints.inactive === endpoints.total) return { tone: 'quiet', state: 'Inactive' }
  if (deliveries.waiting > 0)
    return { tone: 'busy', state: `${count(deliveries.waiting, 'delivery', 'deliveries')} waiting` }
  return { tone: 'good', state: 'Nothing waits' }
}

function outboxState({ outbox: { waiting, uncertain, failed } }: Overview): State {
  if (uncertain > 0) return { tone: 'bad', state: `${count(uncertain, 'message')} uncertain` }
  if (failed > 0) return { tone: 'warn', state: `${count(failed, 'message')} not sent` }
  if (waiting > 0) return { tone: 'busy', state: `${count(waiting, 'message')} waiting` }
  return { tone: 'good', state: 'Nothing waits' }
}

function calendarsState({ calendars: { total, failing } }: Overview): State {
  if (total === 0) return { tone: 'quiet', state: 'No calendar' }
  if (failing > 0) return { tone: 'warn', state: `${count(failing, 'calendar fails', 'calendars fail')}` }
  return { tone: 'good', state: `${count(total, 'calendar')} in sync` }
}
