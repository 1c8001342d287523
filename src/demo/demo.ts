import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { run, type SignalName } from '../app/lifecycle.ts'
import { silentLog } from '../infra/log/index.ts'
import { systemClock } from '../lib/clock.ts'
import { demoApi } from './api.ts'
import { tellStory } from './imap-scenario.ts'
import { type DemoMailServer, startDemoMailServer } from './mail-server.ts'
import { type Narrator, narrator } from './narrator.ts'
import type { SiteName } from './provider-emulator.ts'
import { tellSiteStory } from './provider-scenario.ts'
import { type DemoReceiver, startDemoReceiver } from './receiver.ts'
import { type DemoService, startDemoService } from './service.ts'

/**
 * `npm run demo`: the whole service on a file store in a temporary folder, a throwaway mail server and an application
 * that takes webhooks, all on loopback. `-- --provider gmail` (or `microsoft`) has a stand-in of the provider instead, with
 * a consent page for a person with a browser. `-- --once` ends after the story with exit code 0, and needs nobody; without
 * it everything keeps running until Ctrl-C.
 */
async function main(): Promise<void> {
  const { once, provider } = parseArgs({
    options: { once: { type: 'boolean', default: false }, provider: { type: 'string', default: 'imap' } },
  }).values
  const demo = new Demo(narrator(process.stdout))
  let end: (signal: SignalName) => void = () => {}
  const start = async (ended: AbortSignal) => {
    try {
      const url = isSite(provider) ? await demo.startAt(provider, once, ended) : await demo.start(once)
      if (once) end('SIGTERM')
      return { url }
    } catch (error) {
      if (ended.aborted) throw error
      process.stderr.write(`\nThe demo stopped: ${error instanceof Error ? error.message : String(error)}\n`)
      throw error
    }
  }
  if (provider !== 'imap' && !isSite(provider)) {
    process.stderr.write(`There is no provider ${provider}: imap, gmail or microsoft.\n`)
    process.exit(1)
  }
  await run(
    { start, stop: () => demo.stop() },
    { log: silentLog, clock: systemClock },
    {
      onSignal(listener) {
        end = listener
        process.on('SIGINT', () => listener('SIGINT'))
        process.on('SIGTERM', () => listener('SIGTERM'))
      },
      exit: (code) => process.exit(code),
    },
  )
}

/** What the demo starts, and ends in reverse order. */
class Demo {
  readonly #tell: Narrator
  readonly #closers: (() => Promise<unknown>)[] = []

  constructor(tell: Narrator) {
    this.#tell = tell
  }

  /** Starts everything and tells the story; answers the address of the service. */
  async start(once: boolean): Promise<string> {
    this.#tell.say('\nPosthorn demo: nothing here leaves this machine, and nothing stays on it.\n')
    const { mail, receiver, service } = await this.#tell.step(
      'Starting the service, a mail server and an application',
      async () => ({
        mail: await this.#open(startDemoMailServer(), (opened) => opened.close()),
        receiver: await this.#open(startDemoReceiver(), (opened) => opened.close()),
        service: await this.#startService(),
      }),
      (started) => [
        `Service      ${started.service.url} (embedded file store)`,
        `Mail server  imaps://${started.mail.host}:${started.mail.port} (in memory, a seeded mailbox)`,
        `Application  ${started.receiver.url}`,
      ],
    )
    const api = demoApi(service.url, service.key)
    const accountId = await tellStory({ narrator: this.#tell, api, mail, receiver })
    this.#end(once, receiver, whatToOpen(service, accountId, byHand(mail)))
    return service.url
  }

  /** The same at a provider with a consent page. */
  async startAt(name: SiteName, once: boolean, ended: AbortSignal): Promise<string> {
    const { startDemoSite } = await siteModule()
    this.#tell.say('\nPosthorn demo: nothing here leaves this machine, and nothing stays on it.\n')
    const { site, receiver, service } = await this.#tell.step(
      'Starting the service, a stand-in of the provider and an application',
      async () => {
        const site = await this.#open(startDemoSite(name), (opened) => opened.close())
        const receiver = await this.#open(startDemoReceiver(), (opened) => opened.close())
        return { site, receiver, service: await this.#startService(site.settings) }
      },
      (started) => [
        `Service      ${started.service.url} (embedded file store)`,
        `Provider     ${started.site.url} (a stand-in of ${started.site.title}, in memory, a seeded mailbox)`,
        `Application  ${started.receiver.url}`,
      ],
    )
    const api = demoApi(service.url, service.key)
    const stage = { narrator: this.#tell, api, receiver, name, site, ended, alone: once }
    const accountId = await tellSiteStory(stage)
    this.#end(once, receiver, whatToOpen(service, accountId, [`   choose ${site.user} on the consent page`]))
    return service.url
  }

  #end(once: boolean, receiver: DemoReceiver, lookAround: string[]): void {
    if (once) {
      this.#tell.say('The story is told: connected, listed, heard of. Run it without --once to look around.')
      return
    }
    receiver.onEvent((event) => this.#tell.say(`   webhook  ${event.type}  ${event.id}`))
    for (const line of lookAround) this.#tell.say(line)
  }

  async stop(): Promise<void> {
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) await close()
  }

  async #startService(settings: Record<string, string> = {}): Promise<DemoService> {
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-demo-'))
    this.#closers.push(() => rm(folder, { recursive: true, force: true }))
    return this.#open(startDemoService(folder, settings), (service) => service.stop())
  }

  async #open<T>(opening: Promise<T>, close: (opened: T) => Promise<unknown>): Promise<T> {
    const opened = await opening
    this.#closers.push(() => close(opened))
    return opened
  }
}

function whatToOpen(service: DemoService, accountId: string, howToConnect: string[]): string[] {
  const key = `-H 'Authorization: Bearer ${service.key}'`
  return [
    'Everything keeps running. To look around:',
    `   ${service.url}/docs     the API`,
    `   ${service.url}/health   how the service is`,
    `   curl ${key} ${service.url}/accounts/${accountId}/messages`,
    'To connect the mailbox again by hand, open the authUrl that this answers (it works once):',
    `   curl -X POST ${key} -H 'content-type: application/json' -d '{"redirectUri":"${service.url}/docs"}' ${service.url}/auth/sessions`,
    ...howToConnect,
    '\nCtrl-C ends everything.',
  ]
}

function byHand(mail: DemoMailServer): string[] {
  return [
    `   e-mail and user name ${mail.user} · password ${mail.password} · server ${mail.host} · port ${mail.port}`,
    '   Under "Advanced settings", allow the self-signed certificate.',
  ]
}

const isSite = (provider: string): provider is SiteName => provider === 'gmail' || provider === 'microsoft'

/** A file of its own in dist/, because what it stands on is for development only: the demo of IMAP runs without. */
async function siteModule(): Promise<typeof import('./provider-emulator.ts')> {
  try {
    return await import(new URL('./demo-emulator.js', import.meta.url).href)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error(
      'the stand-ins of Google and Microsoft are packages for development and are not installed here: run `npm ci` without --omit=dev',
    )
  }
}

await main()
