import type { Backfill } from '@posthorn/sdk'
import { systemClock } from '../../platform/time/clock.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { Command, CommandArguments, Terminal } from '../command.ts'
import { printJson } from '../json.ts'
import { findAccount } from './accounts.ts'
import { LIST_OPTIONS, ONLINE_OPTIONS, type Open, online, parsePage, requireOperand } from './client.ts'
import { parseWord, relativeTime } from './options.ts'
import { type Column, details, printList } from './table.ts'

const STATUSES = ['running', 'paused', 'completed', 'failed', 'cancelled'] as const
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
    run: online(list),
  },
  'backfill show': {
    summary: 'show the progress of the historical sync of an account',
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: ['posthorn backfill show ada@acme.example'],
    run: online((terminal, args, open) => act(terminal, args, open, 'show')),
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

async function list(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const query = { ...parsePage(args), status: parseWord('status', args.options.status, STATUSES) }
  const posthorn = await open()
  const page = await posthorn.historicalSync.list(query)
  if (args.options.json !== undefined) return printJson(terminal, page.response)
  printList(terminal, page, COLUMNS, { noun: 'historical sync', command: 'posthorn backfill list' })
}

type Action = 'start' | 'pause' | 'resume' | 'restart' | 'cancel'

function acting(action: Action, summary: string): Command {
  return {
    summary,
    operand: OPERAND,
    options: ONLINE_OPTIONS,
    examples: [`posthorn backfill ${action} acc_01k9zv3h5q8m2n4p6r7s8t9vwx`],
    run: online((terminal, args, open) => act(terminal, args, open, action)),
  }
}

async function act(terminal: Terminal, args: CommandArguments, open: Open, action: Action | 'show'): Promise<void> {
  const named = requireOperand(args, `backfill ${action}`, 'an account', LIST)
  const posthorn = await open()
  const { id } = await findAccount(posthorn, named)
  const backfill = await posthorn.historicalSync[action === 'show' ? 'get' : action](id)
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
