import type { WebhookAttempt, WebhookDelivery } from '@posthorn/sdk'
import { systemClock } from '../../platform/time/clock.ts'
import type { Command, CommandArguments, Terminal } from '../command.ts'
import { printJson } from '../json.ts'
import { LIST_OPTIONS, ONLINE_OPTIONS, type Open, online, parsePage, requireOperand } from './client.ts'
import { parseWord, relativeTime } from './options.ts'
import { type Column, details, printList, table } from './table.ts'

const STATUSES = ['pending', 'retrying', 'success', 'failed', 'deduplicated', 'cancelled'] as const
const OPERAND = '<delivery>'
const EXAMPLE_ID = 'dlv_01k9zw5m3t7v9x1z3b5d7f9h2k'

export const deliveryCommands: Readonly<Record<string, Command>> = {
  'deliveries list': {
    summary: 'list webhook deliveries, newest first',
    options: {
      status: { value: 'STATUS', about: `only deliveries in this state: ${STATUSES.join(', ')}` },
      endpoint: { value: 'ID', about: 'only deliveries to this endpoint' },
      account: { value: 'ID', about: 'only deliveries about this account' },
      event: { value: 'ID', about: 'only deliveries of this event' },
      type: { value: 'TYPE', about: 'only deliveries of events of this type' },
      ...LIST_OPTIONS,
      ...ONLINE_OPTIONS,
    },
    examples: [
      'posthorn deliveries list --status failed',
      'posthorn deliveries list --type message.received --limit 10',
    ],
    run: online(list),
  },
  'deliveries show': {
    summary: 'show a delivery and its attempts',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn deliveries show ${EXAMPLE_ID}`],
    run: online(show),
  },
  'deliveries retry': {
    summary: 'send a delivery again, under the same ids',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn deliveries retry ${EXAMPLE_ID}`],
    run: online(retry),
  },
}

const describeResult = ({ responseStatus, error }: Pick<WebhookDelivery, 'responseStatus' | 'error'>) =>
  error?.message ?? (responseStatus === null ? '' : String(responseStatus))

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'TYPE', value: ({ eventType }) => eventType, shrinks: true },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'CREATED', value: ({ createdAt }) => relativeTime(createdAt, systemClock.now()) },
  { title: 'ATTEMPTS', value: ({ attempt, maxAttempts }) => `${attempt} of ${maxAttempts}`, optional: true },
  { title: 'RESULT', value: describeResult, shrinks: true, optional: true },
  { title: 'URL', value: ({ url }) => url, shrinks: true, optional: true },
]

async function list(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const { options } = args
  const query = {
    ...parsePage(args),
    status: parseWord('status', options.status, STATUSES),
    endpointId: options.endpoint,
    accountId: options.account,
    eventId: options.event,
    eventType: options.type,
  }
  const posthorn = await open()
  const page = await posthorn.deliveries.list(query)
  if (options.json !== undefined) return printJson(terminal, page.response)
  printList(terminal, page, COLUMNS, { noun: 'delivery', command: 'posthorn deliveries list' })
}

async function show(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'deliveries show', 'a delivery', 'posthorn deliveries list')
  const posthorn = await open()
  const delivery = await posthorn.deliveries.get(id)
  if (args.options.json !== undefined) return printJson(terminal, delivery)
  const lines = details({
    Delivery: delivery.id,
    Status: delivery.status,
    Event: `${delivery.eventType}  ${delivery.eventId}`,
    Account: delivery.accountId,
    Endpoint: delivery.endpointId,
    URL: delivery.url,
    'Created at': delivery.createdAt,
    'Delivered at': delivery.deliveredAt,
    'Next attempt': delivery.nextAttemptAt,
    Attempts: `${delivery.attempt} of ${delivery.maxAttempts}`,
  })
  for (const line of lines) terminal.out(line)
  for (const line of delivery.attempts.length === 0 ? [] : table(delivery.attempts, ATTEMPT_COLUMNS, terminal.width)) {
    terminal.out(line)
  }
}

const ATTEMPT_COLUMNS: readonly Column<WebhookAttempt>[] = [
  { title: 'ATTEMPT', value: ({ attempt }) => String(attempt) },
  { title: 'STARTED', value: ({ startedAt }) => startedAt },
  { title: 'DURATION', value: ({ durationMs }) => `${durationMs} ms` },
  { title: 'RESULT', value: describeResult, shrinks: true },
]

async function retry(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'deliveries retry', 'a delivery', 'posthorn deliveries list --status failed')
  const posthorn = await open()
  const delivery = await posthorn.deliveries.retry(id)
  if (args.options.json !== undefined) return printJson(terminal, delivery)
  terminal.out(`${delivery.id}  ${delivery.eventType}  ${delivery.status}  ${describeResult(delivery)}`.trimEnd())
}
