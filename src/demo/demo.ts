import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { run, type SignalName } from '../app/lifecycle.ts'
import { silentLog } from '../infra/log/index.ts'
import { systemClock } from '../lib/clock.ts'
import { demoApi } from './api.ts'
import { runImapScenario } from './imap-scenario.ts'
import { type DemoMailServer, startDemoMailServer } from './mail-server.ts'
import { type Narrator, narrator } from './narrator.ts'
import type { EmulatedProvider } from './provider-emulator.ts'
import { runProviderScenario } from './provider-scenario.ts'
import { type DemoReceiver, startDemoReceiver } from './receiver.ts'
import { type DemoService, startDemoService } from './service.ts'

/**
 * `npm run demo`: the service on a file store in a temporary folder, an in-memory mail server and an application that receives
 * webhooks, all on loopback. `-- --provider gmail` (or `microsoft`) starts an emulator of the provider with a consent page
 * instead. `-- --once` runs unattended and exits with code 0 after the scenario; otherwise everything runs until Ctrl-C.
 */
async function main(): Promise<void> {
  const { once, provider } = parseArgs({
    options: { once: { type: 'boolean', default: false }, provider: { type: 'string', default: 'imap' } },
  }).values
  const demo = new Demo(narrator(process.stdout))
  let end: (signal: SignalName) => void = () => {}
  const start = async (ended: AbortSignal) => {
    try {
      const url = isEmulated(provider) ? await demo.startAt(provider, once, ended) : await demo.start(once)
      if (once) end('SIGTERM')
      return { url }
    } catch (error) {
      if (ended.aborted) throw error
      process.stderr.write(`\nThe demo stopped: ${error instanceof Error ? error.message : String(error)}\n`)
      throw error
    }
  }
  if (provider !== 'imap' && !isEmulated(provider)) {
    process.stderr.write(`Unknown provider ${provider}. Use imap, gmail or microsoft.\n`)
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

/** Everything that the demo starts; stopped in reverse order. */
class Demo {
  readonly #narrator: Narrator
  readonly #closers: (() => Promise<unknown>)[] = []

  constructor(narrator: Narrator) {
    this.#narrator = narrator
  }

  /** Starts everything and runs the scenario. Returns the URL of the service. */
  async start(once: boolean): Promise<string> {
    this.#narrator.say('\nPosthorn demo: everything runs on this machine, and nothing remains afterwards.\n')
    const { mail, receiver, service } = await this.#narrator.step(
      'Starting the service, a mail server and an application',
      async () => ({
        mail: await this.#open(startDemoMailServer(), (opened) => opened.close()),
        receiver: await this.#open(startDemoReceiver(), (opened) => opened.close()),
        service: await this.#startService(),
      }),
      (started) => [
        `Service      ${started.service.url} (embedded file store)`,
        `Mail server  imaps://${started.mail.host}:${started.mail.port} (in memory, with sample messages)`,
        `Application  ${started.receiver.url}`,
      ],
    )
    const api = demoApi(service.url, service.key)
    const accountId = await runImapScenario({ narrator: this.#narrator, api, mail, receiver })
    this.#end(once, receiver, whatToOpen(service, accountId, byHand(mail)))
    return service.url
  }

  /** The same with the emulator of a provider. */
  async startAt(name: EmulatedProvider, once: boolean, ended: AbortSignal): Promise<string> {
    const { startProviderEmulator } = await emulatorModule()
    this.#narrator.say('\nPosthorn demo: everything runs on this machine, and nothing remains afterwards.\n')
    const { site, receiver, service } = await this.#narrator.step(
      'Starting the service, an emulator of the provider and an application',
      async () => {
        const site = await this.#open(startProviderEmulator(name), (opened) => opened.close())
        const receiver = await this.#open(startDemoReceiver(), (opened) => opened.close())
        return { site, receiver, service: await this.#startService(site.settings) }
      },
      (started) => [
        `Service      ${started.service.url} (embedded file store)`,
        `Provider     ${started.site.url} (an emulator of ${started.site.title}, in memory, with sample messages)`,
        `Application  ${started.receiver.url}`,
      ],
    )
    const api = demoApi(service.url, service.key)
    const stage = { narrator: this.#narrator, api, receiver, name, site, ended, alone: once }
    const accountId = await runProviderScenario(stage)
    this.#end(once, receiver, whatToOpen(service, accountId, [`   choose ${site.user} on the consent page`]))
    return service.url
  }

  #end(once: boolean, receiver: DemoReceiver, hints: string[]): void {
    if (once) {
      this.#narrator.say(
        'Done: the application connected a mailbox, listed its messages and received a webhook. Run the demo without --once to explore.',
      )
      return
    }
    receiver.onEvent((event) => this.#narrator.say(`   webhook  ${event.type}  ${event.id}`))
    for (const line of hints) this.#narrator.say(line)
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
    'Everything keeps running. To explore:',
    `   ${service.url}/docs     the API`,
    `   ${service.url}/health   the health of the service`,
    `   curl ${key} ${service.url}/accounts/${accountId}/messages`,
    'To connect the mailbox again in a browser, open the authUrl that this command returns (it works once):',
    `   curl -X POST ${key} -H 'content-type: application/json' -d '{"redirectUri":"${service.url}/docs"}' ${service.url}/auth/sessions`,
    ...howToConnect,
    '\nPress Ctrl-C to stop.',
  ]
}

function byHand(mail: DemoMailServer): string[] {
  return [
    `   email and username ${mail.user} · password ${mail.password} · server ${mail.host} · port ${mail.port}`,
    '   Under "More settings", allow the self-signed certificate.',
  ]
}

const isEmulated = (provider: string): provider is EmulatedProvider => provider === 'gmail' || provider === 'microsoft'

/** A separate bundle in dist/, because the emulators are development dependencies; the IMAP demo runs without them. */
async function emulatorModule(): Promise<typeof import('./provider-emulator.ts')> {
  try {
    return await import(new URL('./demo-emulator.js', import.meta.url).href)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new Error(
      'The emulators of Google and Microsoft are development dependencies and are not installed. Run `npm ci` without --omit=dev.',
    )
  }
}

await main()
