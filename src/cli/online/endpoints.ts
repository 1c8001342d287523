import type { WebhookEndpoint } from '@posthorn/sdk'
import { generateSigningSecret } from '../../platform/crypto/signature.ts'
import { systemClock } from '../../platform/time/clock.ts'
import { type Command, type CommandArguments, type Terminal, UsageError } from '../command.ts'
import { printJson } from '../json.ts'
import { LIST_OPTIONS, ONLINE_OPTIONS, type Open, online, parsePage, requireOperand } from './client.ts'
import { parseSince, relativeTime } from './options.ts'
import { type Column, details, printList } from './table.ts'

const OPERAND = '<endpoint>'
const EXAMPLE_ID = 'whe_01k9zw3a5c7e9g1j3m5p7r9t1v'
const LIST = 'posthorn endpoints list'

export const endpointCommands: Readonly<Record<string, Command>> = {
  'endpoints list': {
    summary: 'list the webhook endpoints, newest first',
    options: { ...LIST_OPTIONS, ...ONLINE_OPTIONS },
    examples: [LIST, 'posthorn endpoints list --json | jq -r .endpoints[].url'],
    run: online(list),
  },
  'endpoints show': {
    summary: 'show a webhook endpoint',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn endpoints show ${EXAMPLE_ID}`],
    run: online(show),
  },
  'endpoints create': {
    summary: 'create a webhook endpoint and print its signing secret, once',
    operand: '<address>',
    options: {
      events: { value: 'LIST', about: 'event types, such as message.*; default message.received,mailbox.changed' },
      ...ONLINE_OPTIONS,
    },
    examples: [
      'posthorn endpoints create http://localhost:3000/hook',
      "posthorn endpoints create https://app.example.com/hook --events 'message.*,booking.confirmed'",
    ],
    run: online(create),
  },
  'endpoints enable': switching('enable', 'send events to an endpoint again'),
  'endpoints disable': switching('disable', 'send an endpoint no events until it is enabled'),
  'endpoints test': {
    summary: 'send a test event to an endpoint, and print the result',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn endpoints test ${EXAMPLE_ID}`],
    run: online(test),
  },
  'endpoints recover': {
    summary: 'send the events that an endpoint missed',
    operand: OPERAND,
    options: {
      since: { value: 'TIME', about: 'the first of these events: a date, a time, or an age such as 2h or 7d' },
      ...ONLINE_OPTIONS,
    },
    examples: [`posthorn endpoints recover ${EXAMPLE_ID} --since 2h`],
    run: online(recover),
  },
  'endpoints rotate-secret': {
    summary: 'replace the signing secret of an endpoint, and print the new one, once',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn endpoints rotate-secret ${EXAMPLE_ID}`],
    run: online(rotateSecret),
  },
  'endpoints delete': {
    summary: 'delete an endpoint, and cancel its waiting deliveries',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn endpoints delete ${EXAMPLE_ID}`],
    run: online(remove),
  },
}

function describeState({ isActive, circuit }: WebhookEndpoint): string {
  if (!isActive) return 'disabled'
  return circuit.state === 'closed' ? 'active' : 'failing'
}

const COLUMNS: readonly Column<WebhookEndpoint>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'URL', value: ({ url }) => url, shrinks: true },
  { title: 'STATE', value: describeState },
  { title: 'EVENTS', value: ({ eventTypes }) => eventTypes.join(','), shrinks: true, optional: true },
  {
    title: 'LAST DELIVERY',
    value: ({ lastDeliveryAt }) => relativeTime(lastDeliveryAt, systemClock.now()),
    optional: true,
  },
]

async function list(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const query = parsePage(args)
  const posthorn = await open()
  const page = await posthorn.endpoints.list(query)
  if (args.options.json !== undefined) return printJson(terminal, page.response)
  printList(terminal, page, COLUMNS, { noun: 'endpoint', command: LIST })
}

async function show(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'endpoints show', 'an endpoint', LIST)
  const posthorn = await open()
  const endpoint = await posthorn.endpoints.get(id)
  if (args.options.json !== undefined) return printJson(terminal, endpoint)
  printEndpoint(terminal, endpoint)
}

function printEndpoint(terminal: Terminal, endpoint: WebhookEndpoint): void {
  const { circuit, retryCount, retryDelayMs, retryStrategy } = endpoint
  const lines = details({
    Endpoint: endpoint.id,
    URL: endpoint.url,
    State: describeState(endpoint),
    Events: endpoint.eventTypes.join(', '),
    Secret: endpoint.secret ?? null,
    Retries: retryCount === 0 ? 'none' : `${retryCount}, ${retryStrategy}, the first after ${retryDelayMs} ms`,
    Timeout: `${endpoint.timeoutMs} ms`,
    'Last delivery': relativeTime(endpoint.lastDeliveryAt, systemClock.now()),
    Failures: circuit.failures === 0 ? null : `${circuit.failures} in a row`,
    'Next probe': circuit.nextProbeAt,
    'Created at': endpoint.createdAt,
  })
  for (const line of lines) terminal.out(line)
}

async function create(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const { operands, options } = args
  const [url] = operands
  if (url === undefined) throw new UsageError('endpoints create needs the address that receives the webhooks.')
  const eventTypes = options.events?.split(',').map((type) => type.trim())
  const posthorn = await open()
  const endpoint = await posthorn.endpoints.create({ url, ...(eventTypes && { eventTypes }) })
  if (options.json !== undefined) return printJson(terminal, endpoint)
  printEndpoint(terminal, endpoint)
  terminal.error('This is the only time that the secret is shown. Your application verifies webhooks with it.')
}

function switching(verb: 'enable' | 'disable', summary: string): Command {
  return {
    summary,
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn endpoints ${verb} ${EXAMPLE_ID}`],
    run: online(async (terminal, args, open) => {
      const id = requireOperand(args, `endpoints ${verb}`, 'an endpoint', LIST)
      const posthorn = await open()
      const endpoint = await posthorn.endpoints.update(id, { isActive: verb === 'enable' })
      if (args.options.json !== undefined) return printJson(terminal, endpoint)
      terminal.out(`${endpoint.id}  ${endpoint.url}  ${describeState(endpoint)}`)
    }),
  }
}

async function test(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'endpoints test', 'an endpoint', LIST)
  const posthorn = await open()
  const delivery = await posthorn.endpoints.test(id)
  const { status, responseStatus, error, durationMs } = delivery
  if (args.options.json !== undefined) printJson(terminal, delivery)
  else terminal.out(`${delivery.id}  ${status}  ${error?.message ?? `${responseStatus} in ${durationMs} ms`}`)
  if (status !== 'success')
    throw new Error(`The endpoint did not accept the test event. See: posthorn deliveries show ${delivery.id}`)
}

async function recover(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'endpoints recover', 'an endpoint', LIST)
  const { since, json } = args.options
  if (since === undefined) throw new UsageError('endpoints recover needs --since, such as --since 2h.')
  const body = { since: parseSince('since', since, systemClock.now()) }
  const posthorn = await open()
  const result = await posthorn.endpoints.recover(id, body)
  if (json !== undefined) return printJson(terminal, result)
  const { recovered, complete } = result
  terminal.out(`Queued ${recovered} ${recovered === 1 ? 'delivery' : 'deliveries'}.`)
  if (!complete) terminal.error('There are more. Run the command again.')
}

async function rotateSecret(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'endpoints rotate-secret', 'an endpoint', LIST)
  const posthorn = await open()
  const { hasSecret } = await posthorn.endpoints.get(id)
  const secret = generateSigningSecret()
  const endpoint = { ...(await posthorn.endpoints.update(id, { secret })), secret }
  if (args.options.json !== undefined) return printJson(terminal, endpoint)
  printEndpoint(terminal, endpoint)
  const overlap = hasSecret
    ? ' The secret before it also signs for 24 hours: until then give your application the new one.'
    : ''
  terminal.error(`This is the only time that the secret is shown.${overlap}`)
}

async function remove(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'endpoints delete', 'an endpoint', LIST)
  const posthorn = await open()
  const done = await posthorn.endpoints.delete(id)
  if (args.options.json !== undefined) return printJson(terminal, done)
  terminal.out(done.message)
}
