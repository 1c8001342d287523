import type { Account, Posthorn } from '@posthorn/sdk'
import { sleep } from '../../platform/concurrency/abort.ts'
import type { Command, CommandArguments, Terminal } from '../command.ts'
import { printJson } from '../json.ts'
import { untilSignal } from '../until-signal.ts'
import { ONLINE_OPTIONS, type Open, online } from './client.ts'
import { createSession, SESSION_OPTIONS } from './sessions.ts'
import { startPage } from './start-page.ts'

const POLL_MS = 1000

/** Connects a mailbox of the person at this terminal, who signs in to it in the browser. */
export const connectCommand: Command = {
  summary: 'connect a mailbox: open a sign-in link in the browser, and wait for the account',
  operand: '[address]',
  options: {
    'no-browser': { about: 'print the link only' },
    ...SESSION_OPTIONS,
    ...ONLINE_OPTIONS,
  },
  examples: ['posthorn connect', 'posthorn connect ada@acme.example', 'posthorn connect --no-browser --user 4711'],
  run: online(connect),
}

async function connect(terminal: Terminal, args: CommandArguments, open: Open): Promise<void> {
  const { options } = args
  const posthorn = await open()
  const { code, authUrl } = await createSession(posthorn, args, await startPage(args))
  const hasOpened = options['no-browser'] === undefined && terminal.openBrowser?.(authUrl) === true
  // Without stdout for it, a program could not read the account from there.
  const say = options.json === undefined ? terminal.out : terminal.error
  say(
    hasOpened
      ? 'Sign in to the mailbox in your browser. If no page opened, open this link:'
      : 'Open this link in a browser, and sign in to the mailbox:',
  )
  say(`\n  ${authUrl}\n`)
  terminal.error('Waiting for the mailbox. Press Ctrl-C to stop.')
  const account = await untilSignal((signal) => waitForAccount(posthorn, code, terminal, signal))
  if (options.json !== undefined) return printJson(terminal, account)
  terminal.out(`Connected ${account.email}: ${account.id}`)
  terminal.out(`See its sync: posthorn accounts show ${account.id}`)
}

/** Resolves once the session connected an account. A failed attempt is reported, because the person may try again. */
async function waitForAccount(
  posthorn: Posthorn,
  code: string,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<Account> {
  let reported: string | null = null
  for (;;) {
    const session = await posthorn.sessions.get(code)
    const { status, accountId, failureCode } = session
    if (status === 'completed' && accountId !== null) return posthorn.accounts.get(accountId)
    if (status === 'completed') throw new Error('The account was deleted again.')
    if (status === 'expired') throw new Error('The link expired before a mailbox was connected. Run the command again.')
    if (status === 'failed' && failureCode !== null && failureCode !== reported) {
      terminal.error(`The sign-in failed (${failureCode}). The page says why; the link still works.`)
    }
    reported = failureCode
    await sleep(POLL_MS, signal)
    signal.throwIfAborted()
  }
}
