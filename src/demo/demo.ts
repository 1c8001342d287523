import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Posthorn } from '@posthorn/sdk'
import { run, type SignalName } from '../app/lifecycle.ts'
import { openBrowser } from '../cli/open-browser.ts'
import { silentLog } from '../platform/log/index.ts'
import { systemClock } from '../platform/time/clock.ts'
import { startDemoApplication } from './application/application.ts'
import { startDemoMailServer } from './mail-server.ts'
import { type DemoMailbox, imapMailbox } from './mailbox.ts'
import { runScenario } from './scenario.ts'
import { startDemoService } from './service.ts'
import { type Story, story } from './story.ts'
import { visitor } from './visitor.ts'

export interface DemoOptions {
  /** `gmail` and `microsoft` start an emulator of the provider instead of the mail server. */
  provider: DemoMailbox['provider']
  /** Needs nobody, and exits with code 0 after the scenario. */
  once: boolean
  /** Also offers times that a guest can book. */
  books: boolean
  /** The only port of the service to try. Default: 8080, or a free one while it is in use. */
  port: string | undefined
}

const TIMEOUT_MS = 15_000

/**
 * Starts the service on a file store in a temporary folder, an in-memory mail server and an application with a page of its own, all
 * on loopback. A person connects a mailbox on that page; the terminal follows. Returns when it runs; the process exits later.
 */
export async function startDemo(options: DemoOptions): Promise<void> {
  const closers: (() => Promise<unknown>)[] = []
  let end: (signal: SignalName) => void = () => {}
  const start = async (ended: AbortSignal) => {
    try {
      const url = await play(options, ended, closers)
      if (options.once) end('SIGTERM')
      return { url }
    } catch (error) {
      if (ended.aborted) throw error
      process.stderr.write(`\nThe demo stopped: ${error instanceof Error ? error.message : String(error)}\n`)
      throw error
    }
  }
  const stop = async () => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close()
  }
  await run(
    { start, stop },
    { log: silentLog, clock: systemClock, close: async () => {} },
    {
      onSignal(listener) {
        end = listener
        // The reader of the output, such as `head`, has ended.
        process.stdout.on('error', () => listener('SIGTERM'))
        process.on('SIGINT', () => listener('SIGINT'))
        process.on('SIGTERM', () => listener('SIGTERM'))
      },
      exit: (code) => process.exit(code),
    },
  )
}

/** Starts everything and runs the scenario. Returns the URL of the application. Adds to `closers` what to stop, last first. */
async function play(
  { provider, once, books, port }: DemoOptions,
  ended: AbortSignal,
  closers: (() => Promise<unknown>)[],
): Promise<string> {
  const steps = story({
    start: `Posthorn, ${provider === 'imap' ? 'a mail server' : 'an emulator of the provider'} and an application start`,
    endpoint: 'The application registers a webhook endpoint',
    connect: 'An end user connects a mailbox through the hosted pages',
    list: 'The application lists the messages',
    receive: 'A new message arrives, and the application receives a webhook',
    ...(books && {
      offer: 'The application offers times to guests',
      book: 'A guest books a time, and the application receives a webhook',
    }),
  })
  const { say } = terminal(process.stdout, steps)
  say('\nPosthorn demo: everything runs on this machine, and nothing remains afterwards.\n')

  const started = await steps.step(
    'start',
    async () => {
      const mailbox = await openMailbox(provider)
      closers.push(() => mailbox.close())
      const folder = await mkdtemp(join(tmpdir(), 'posthorn-demo-'))
      closers.push(() => rm(folder, { recursive: true, force: true }))
      const service = await startDemoService(folder, {
        port,
        settings: mailbox.settings,
        mailServers: new Map(mailbox.server && [[mailbox.user.replace(/^.*@/, ''), mailbox.server]]),
      })
      closers.push(() => service.stop())
      const posthorn = new Posthorn({ baseUrl: service.url, apiKey: service.key, timeoutMs: TIMEOUT_MS })
      const application = await startDemoApplication({ posthorn, service, mailbox, story: steps, now: systemClock.now })
      closers.push(() => application.close())
      return { mailbox, service, posthorn, application }
    },
    ({ mailbox, service, application }) => ({
      lines: [
        `Service      ${service.url} (embedded file store)`,
        `Mailbox      ${mailbox.address} (${mailbox.host}, in memory, with sample messages)`,
        ...(mailbox.signIn === undefined ? [] : [`Password     ${mailbox.signIn.password} (of ${mailbox.user})`]),
        `Application  ${application.url}`,
      ],
    }),
  )
  const { service, application } = started
  if (once) {
    await runScenario({
      ...started,
      story: steps,
      ended,
      visitor: visitor(application.url, started.mailbox.signIn),
      books,
    })
    say(
      'Done: the application connected a mailbox, listed its messages and received a webhook. Run the demo without --once to explore.',
    )
    return application.url
  }
  say(`   Open the application in your browser, and click "Connect a mailbox":\n\n      ${application.url}\n`)
  if (process.stdout.isTTY) openBrowser(application.url, process.env)
  await runScenario({ ...started, story: steps, ended, visitor: undefined, books })
  application.webhooks.onReceived(({ type, id }) => say(`   webhook  ${type}  ${id}`))
  say(['Everything keeps running. To explore:', ...whatToOpen(application, service.url)].join('\n'))
  say('\nPress Ctrl-C to stop.')
  return application.url
}

function whatToOpen({ url, portalUrl }: { url: string; portalUrl: string }, serviceUrl: string): string[] {
  return [
    `   ${url}   the application, with the curl command of each step`,
    `   ${serviceUrl}/docs   the documentation`,
    `   ${serviceUrl}/health   the health of the service`,
    `   ${portalUrl}`,
    '      the admin portal; this link signs you in, once',
  ]
}

async function openMailbox(provider: DemoMailbox['provider']): Promise<DemoMailbox> {
  if (provider === 'imap') return imapMailbox(await startDemoMailServer())
  const { startProviderEmulator } = await emulatorModule()
  return startProviderEmulator(provider)
}

/** A separate bundle in dist/, because the emulators are development dependencies; the IMAP demo runs without them. */
async function emulatorModule(): Promise<typeof import('./provider-emulator.ts')> {
  try {
    return await import(new URL('./demo-emulator.js', import.meta.url).href)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error(
      'The emulators of Google and Microsoft are not part of this installation. Clone https://github.com/posthorn/posthorn and run `npm ci` there, without --omit=dev.',
    )
  }
}

/** Writes lines to the terminal. */
interface Terminal {
  say(text: string): void
}

/** Prints each step of the story when it begins, and its result and duration when it is done. */
function terminal(out: NodeJS.WriteStream, story: Story): Terminal {
  const paint = (code: number, text: string) => (out.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text)
  const say = (text: string) => void out.write(`${text}\n`)
  const printed = new Map<string, string>()
  story.onChange((step) => {
    const { id, title, status, lines, tookMs } = step
    if (printed.get(id) === status) return
    printed.set(id, status)
    if (status === 'running') say(paint(1, `${story.steps.indexOf(step) + 1}. ${title}`))
    if (status !== 'done') return
    for (const line of lines) say(`   ${line}`)
    say(`   ${paint(32, '✓')} ${paint(2, tookMs === null ? '' : formatDuration(tookMs))}`.trimEnd().concat('\n'))
  })
  return { say }
}

const formatDuration = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)
