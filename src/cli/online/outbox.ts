import type { Address, OutboxMessage } from '@posthorn/sdk'
import { systemClock } from '../../platform/time/clock.ts'
import { type Command, type CommandArguments, type Terminal, UsageError } from '../command.ts'
import { printJson } from '../json.ts'
import { findAccount } from './accounts.ts'
import { LIST_OPTIONS, ONLINE_OPTIONS, type Open, online, parsePage, requireOperand } from './client.ts'
import { parseWord, relativeTime } from './options.ts'
import { type Column, details, printable, printList } from './table.ts'

const STATUSES = ['scheduled', 'queued', 'sending', 'sent', 'failed', 'uncertain', 'cancelled'] as const
const RESOLUTIONS = ['sent', 'retry', 'discard'] as const
const OPERAND = '<message>'
const EXAMPLE_ID = 'obx_01k9zw8q9z2b4d6f8h1k3n5q7s'
const LIST = 'posthorn outbox list'

export const outboxCommands: Readonly<Record<string, Command>> = {
  'outbox list': {
    summary: 'list the messages of the outbox, newest first',
    options: {
      status: { value: 'STATUS', about: `only messages in this state: ${STATUSES.join(', ')}` },
      account: { value: 'ACCOUNT', about: 'only messages of this account' },
      ...LIST_OPTIONS,
      ...ONLINE_OPTIONS,
    },
    examples: ['posthorn outbox list --status failed', 'posthorn outbox list --account ada@acme.example'],
    run: online(list),
  },
  'outbox show': {
    summary: 'show a message of the outbox, and who refused it',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn outbox show ${EXAMPLE_ID}`],
    run: online(show),
  },
  'outbox cancel': {
    summary: 'cancel a message that has not been sent',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn outbox cancel ${EXAMPLE_ID}`],
    run: online(cancel),
  },
  'outbox resolve': {
    summary: 'decide on a message that failed or may have been sent',
    operand: OPERAND,
    options: {
      as: { value: 'WORD', about: 'sent: it was sent; retry: send it again; discard: give it up' },
      ...ONLINE_OPTIONS,
    },
    examples: [`posthorn outbox resolve ${EXAMPLE_ID} --as retry`],
    run: online(resolve),
  },
}

const emails = (addresses: readonly Address[]) => addresses.map(({ email }) => email).join(', ')

const COLUMNS: readonly Column<OutboxMessage>[] = [
  { title: 'ID', value: ({ id }) => id },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'TO', value: ({ to }) => emails(to), shrinks: true },
  { title: 'SUBJECT', value: ({ subject }) => subject, shrinks: true },
  { title: 'CREATED', value: ({ createdAt }) => relativeTime(createdAt, systemClock.now()) },
  { title: 'FROM', value: ({ from }) => from.email, shrinks: true, optional: true },
  { title: 'ERROR', value: ({ error }) => error?.message ?? null, shrinks: true, optional: true },
]

async function list(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const { options } = args
  const posthorn = await open()
  const query = {
    ...parsePage(args),
    status: parseWord('status', options.status, STATUSES),
    accountId: options.account === undefined ? undefined : (await findAccount(posthorn, options.account)).id,
  }
  const page = await posthorn.outbox.list(query)
  if (options.json !== undefined) return printJson(terminal, page.response)
  printList(terminal, page, COLUMNS, { noun: 'message', command: LIST })
}

async function show(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'outbox show', 'a message', LIST)
  const posthorn = await open()
  const message = await posthorn.outbox.get(id)
  if (args.options.json !== undefined) return printJson(terminal, message)
  printMessage(terminal, message)
}

function printMessage(terminal: Terminal, message: OutboxMessage): void {
  const lines = details({
    'Outbox id': message.id,
    Status: message.status,
    Account: message.accountId,
    Message: message.messageId,
    From: message.from.email,
    To: emails(message.to),
    Cc: message.cc.length === 0 ? null : emails(message.cc),
    Bcc: message.bcc.length === 0 ? null : emails(message.bcc),
    Subject: message.subject,
    Size: `${message.size} bytes`,
    Attempts: String(message.attempts),
    Error: message.error?.message ?? null,
    'No copy in Sent': message.copyError?.message ?? null,
    'Send at': message.sendAt,
    'Next attempt': message.nextAttemptAt,
    'Sent at': message.sentAt,
    'Created at': message.createdAt,
  })
  for (const line of lines) terminal.out(line)
  for (const { email, diagnostic } of message.refused) terminal.out(printable(`Refused: ${email} (${diagnostic})`))
  for (const { email, diagnostic } of message.bounced) {
    terminal.out(printable(`Bounced: ${email} (${diagnostic ?? 'no reason given'})`))
  }
}

async function cancel(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'outbox cancel', 'a message', 'posthorn outbox list --status scheduled')
  const posthorn = await open()
  const done = await posthorn.outbox.cancel(id)
  if (args.options.json !== undefined) return printJson(terminal, done)
  terminal.out(done.message)
}

async function resolve(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const id = requireOperand(args, 'outbox resolve', 'a message', 'posthorn outbox list --status uncertain')
  const as = parseWord('as', args.options.as, RESOLUTIONS)
  if (as === undefined) throw new UsageError('outbox resolve needs --as sent, --as retry or --as discard.')
  const posthorn = await open()
  const message = await posthorn.outbox.resolve(id, { as })
  if (args.options.json !== undefined) return printJson(terminal, message)
  terminal.out(`${message.id}  ${message.subject}  ${message.status}`)
}
