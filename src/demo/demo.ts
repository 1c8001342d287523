import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { silentLog } from '../infra/log/index.ts'
import { systemClock } from '../lib/clock.ts'
import { run, type SignalName } from '../lifecycle.ts'
import { demoApi } from './api.ts'
import { type DemoMailServer, startDemoMailServer } from './mail-server.ts'
import { type Narrator, narrator } from './narrator.ts'
import { startDemoReceiver } from './receiver.ts'
import { type DemoService, startDemoService } from './service.ts'
import { tellStory } from './story.ts'

/**
 * `npm run demo`: the whole service on a file store in a temporary folder, a throwaway mail server and an application
 * that takes webhooks, all on loopback. `-- --once` ends after the story with exit code 0; without it everything keeps
 * running until Ctrl-C.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { once: { type: 'boolean', default: false } } })
  const demo = new Demo(narrator(process.stdout))
  let end: (signal: SignalName) => void = () => {}
  const start = async () => {
    try {
      const url = await demo.start(values.once)
      if (values.once) end('SIGTERM')
      return { url }
    } catch (error) {
      process.stderr.write(`\nThe demo stopped: ${error instanceof Error ? error.message : String(error)}\n`)
      throw error
    }
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
    if (once) {
      this.#tell.say('The story is told: connected, listed, heard of. Run it without --once to look around.')
    } else {
      receiver.onEvent((event) => this.#tell.say(`   webhook  ${event.type}  ${event.id}`))
      for (const line of whatToOpen(service, mail, accountId)) this.#tell.say(line)
    }
    return service.url
  }

  async stop(): Promise<void> {
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) await close()
  }

  async #startService(): Promise<DemoService> {
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-demo-'))
    this.#closers.push(() => rm(folder, { recursive: true, force: true }))
    return this.#open(startDemoService(folder), (service) => service.stop())
  }

  async #open<T>(opening: Promise<T>, close: (opened: T) => Promise<unknown>): Promise<T> {
    const opened = await opening
    this.#closers.push(() => close(opened))
    return opened
  }
}

function whatToOpen(service: DemoService, mail: DemoMailServer, accountId: string): string[] {
  const key = `-H 'Authorization: Bearer ${service.key}'`
  return [
    'Everything keeps running. To look around:',
    `   ${service.url}/docs     the API`,
    `   ${service.url}/health   how the service is`,
    `   curl ${key} ${service.url}/accounts/${accountId}/messages`,
    'To connect the mailbox again by hand, open the authUrl that this answers (it works once):',
    `   curl -X POST ${key} -H 'content-type: application/json' -d '{"redirectUri":"${service.url}/docs"}' ${service.url}/auth/sessions`,
    `   e-mail and user name ${mail.user} · password ${mail.password} · server ${mail.host} · port ${mail.port}`,
    '   Under "Advanced settings", allow the self-signed certificate.',
    '\nCtrl-C ends everything.',
  ]
}

await main()
