import { systemClock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { Backfill, List } from '../../ui/generated/api-objects.ts'
import type { Command, CommandArguments, Terminal } from '../command.ts'
import { printJson } from '../json.ts'
import { findAccount } from './accounts.ts'
import { client, LIST_OPTIONS, ONLINE_OPTIONS, parsePage, requireOperand } from './client.ts'
import { relativeTime, requireWord } from './options.ts'
import { type Column, details, printList } from './table.ts'

const STATUSES = ['running', 'paused', 'completed', 'failed', 'cancelled']
const OPERAND = '<account>'
const LIST = 'posthorn accounts list'

export const backfillCommands: Readonly<Record<string, Command>> = {
  'backfill list': {
    summary: 'list the historical syncs of accounts',
    options: {
      status: { value: 'STATUS', about: `only those in this state: ${STATUSES.join(', ')}` },
      ...LIST_OPTIONS,
      ...ONLINE_OPTIONS,
    },
    examples: ['posthorn backfill list --status running'],
    run: list,
  },
  'backfill show': {
    summary: 'show the progress of the historical sync of an account',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: ['posthorn backfill show ada@acme.example'],
    run: (terminal, args) => act(terminal, args, 'show'),
  },
  'backfill start': acting('start', 'read the older mail of an account in the background'),
  'backfill pause': acting('pause', 'pause the historical sync of an account'),
  'backfill resume': acting('resume', 'continue a paused or failed historical sync'),
  'backfill restart': acting('restart', 'begin the historical sync of an account anew'),
  'backfill cancel': acting('cancel', 'end the historical sync of an account; stored messages are kept'),
}

function timeLeft({ status, secondsLeft }: Backfill): string | null {
  if (status !== 'running' || secondsLeft === null) return null
  const nowMs = systemClock.now()
  return relativeTime(isoTime(nowMs + secondsLeft * 1000), nowMs)
}

const progress = ({ processed, total }: Backfill) => (total === null ? String(processed) : `${processed} of ${total}`)

const COLUMNS: readonly Column<Backfill>[] = [
  { title: 'ACCOUNT', value: ({ accountId }) => accountId },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'MESSAGES', value: progress },
  { title: 'ENDS', value: timeLeft, optional: true },
  { title: 'LAST ERROR', value: ({ lastError }) => lastError, shrinks: true, optional: true },
]

async function list(terminal: Terminal, args: CommandArguments): Promise<void> {
  const query = { ...parsePage(args), status: requireWord('status', args.options.status, STATUSES) }
  const found = await client(args).get<List<'backfills', Backfill>>('/historical-sync', query)
  if (args.options.json !== undefined) return printJson(terminal, found)
  printList(terminal, found.backfills, COLUMNS, {
    pagination: found.pagination,
    noun: 'historical sync',
    command: 'posthorn backfill list',
  })
}

type Action = 'start' | 'pause' | 'resume' | 'restart' | 'cancel'

function acting(action: Action, summary: string): Command {
  return {
    summary,
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn backfill ${action} acc_01k9zv3h5q8m2n4p6r7s8t9vwx`],
    run: (terminal, args) => act(terminal, args, action),
  }
}

async function act(terminal: Terminal, args: CommandArguments, action: Action | 'show'): Promise<void> {
  const named = requireOperand(args, `backfill ${action}`, 'an account', LIST)
  const api = client(args)
  const { id } = await findAccount(api, named)
  const backfill =
    action === 'show'
      ? await api.get<Backfill>(`/historical-sync/${id}`)
      : await api.post<Backfill>(`/historical-sync/${action}/${id}`)
  if (args.options.json !== undefined) return printJson(terminal, backfill)
  const lines = details({
    Account: backfill.accountId,
    Status: backfill.status,
    Messages: progress(backfill),
    Rate: backfill.ratePerMinute === null ? null : `${backfill.ratePerMinute} per minute`,
    Ends: timeLeft(backfill),
    'Oldest message': backfill.oldestReached,
    'Started at': backfill.startedAt,
    'Last error': backfill.lastError,
  })
  for (const line of lines) terminal.out(line)
}
