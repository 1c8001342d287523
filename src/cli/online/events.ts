import type { Event, WebhookDelivery } from '@posthorn/sdk'
import { systemClock } from '../../platform/time/clock.ts'
import { type Command, type CommandArguments, type Terminal, UsageError } from '../command.ts'
import { printJson } from '../json.ts'
import { findAccount } from './accounts.ts'
import { LIST_OPTIONS, ONLINE_OPTIONS, type Open, online, parsePage, requireOperand } from './client.ts'
import { parseSince, relativeTime } from './options.ts'
import { type Column, details, printable, printList, table } from './table.ts'

const EXAMPLE_ID = 'evt_01k9zw5m3t7v9x1z3b5d7f9h2k'
const LIST = 'posthorn events list'

export const eventCommands: Readonly<Record<string, Command>> = {
  'events list': {
    summary: 'list the events, newest first',
    options: {
      type: { value: 'TYPE', about: 'only events of this type' },
      account: { value: 'ACCOUNT', about: 'only events of this account' },
      since: { value: 'TIME', about: 'only events since a date, a time, or an age such as 2h or 7d' },
      ...LIST_OPTIONS,
      ...ONLINE_OPTIONS,
    },
    examples: ['posthorn events list --since 2h', 'posthorn events list --type message.received --limit 10'],
    run: online(list),
  },
  'events show': {
    summary: 'show an event, its data, and its webhook deliveries',
    operand: '<event>',
    options: ONLINE_OPTIONS,
    examples: [`posthorn events show ${EXAMPLE_ID}`, `posthorn events show ${EXAMPLE_ID} --json | jq .data`],
    run: online(show),
  },
  'events resend': {
    summary: 'send an event to an endpoint, also once more',
    operand: '<event>',
    options: {
      endpoint: { value: 'ID', about: 'the endpoint; it need not subscribe to the type of the event' },
      ...ONLINE_OPTIONS,
    },
    examples: [`posthorn events resend ${EXAMPLE_ID} --endpoint whe_01k9zw3a5c7e9g1j3m5p7r9t1v`],
    run: online(resend),
  },
}

const COLUMNS: readonly Column<Event>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'TYPE', value: ({ type, test }) => `${type}${test ? ' (test)' : ''}`, shrinks: true },
  { title: 'RECORDED', value: ({ timestamp }) => relativeTime(timestamp, systemClock.now()) },
  { title: 'ACCOUNT', value: ({ accountId }) => accountId, optional: true },
  { title: 'OBJECT', value: ({ objectId }) => objectId, shrinks: true, optional: true },
]

async function list(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const { options } = args
  const posthorn = await open()
  const query = {
    ...parsePage(args),
    type: options.type,
    accountId: options.account === undefined ? undefined : (await findAccount(posthorn, options.account)).id,
    since: options.since === undefined ? undefined : parseSince('since', options.since, systemClock.now()),
    order: 'desc' as const,
  }
  const page = await posthorn.events.list(query)
  if (options.json !== undefined) return printJson(terminal, page.response)
  printList(terminal, page, COLUMNS, { noun: 'event', command: LIST })
}

const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  { title: 'DELIVERY', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'URL', value: ({ url }) => url, shrinks: true },
]

async function show(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'events show', 'an event', LIST)
  const posthorn = await open()
  const event = await posthorn.events.get(id)
  const { items: deliveries } = await posthorn.deliveries.list({ eventId: event.id })
  if (args.options.json !== undefined) return printJson(terminal, { ...event, deliveries })
  const lines = details({
    Event: event.id,
    Type: `${event.type}${event.test ? ' (test)' : ''}`,
    'Recorded at': event.timestamp,
    Account: event.accountId,
    Object: event.objectId,
    Position: String(event.position),
  })
  for (const line of lines) terminal.out(line)
  for (const line of JSON.stringify(event.data, null, 2).split('\n')) terminal.out(`  ${printableLine(line)}`)
  if (deliveries.length === 0) {
    terminal.error(
      'No delivery: no endpoint subscribes to this type. Send it to an endpoint: posthorn events resend --help',
    )
    return
  }
  for (const line of table(deliveries, DELIVERY_COLUMNS, terminal.width)) terminal.out(line)
}

async function resend(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'events resend', 'an event', LIST)
  const { endpoint: endpointId, json } = args.options
  if (endpointId === undefined) {
    throw new UsageError('events resend needs --endpoint. List the endpoints: posthorn endpoints list')
  }
  const posthorn = await open()
  const sent = await posthorn.events.resend(id, { endpointId })
  if (json !== undefined) return printJson(terminal, sent)
  terminal.out(sent.deliveryId)
  terminal.error(`The event is queued. See the result: posthorn deliveries show ${sent.deliveryId}`)
}

/** Keeps the indentation of the JSON. */
function printableLine(line: string): string {
  const [indent = ''] = /^ */.exec(line) ?? []
  return indent + printable(line.slice(indent.length))
}
