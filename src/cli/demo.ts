import { processEnvironment } from '../config/index.ts'
import type { DemoMailbox } from '../demo/mailbox.ts'
import { type Command, UsageError } from './command.ts'

export const demoCommand: Command = {
  summary: 'try the service with an application and a mailbox, all in memory on this machine',
  options: {
    once: { about: 'needs no browser, and ends by itself' },
    provider: { value: 'NAME', about: 'imap, gmail or microsoft; the last two with an emulator of the provider' },
    booking: { about: 'also offer times that a guest can book' },
  },
  examples: ['posthorn demo', 'posthorn demo --once', 'posthorn demo --provider gmail'],
  async run(_terminal, { options }) {
    const { provider = 'imap' } = options
    if (!isProvider(provider)) throw new UsageError(`Unknown provider ${provider}. Use imap, gmail or microsoft.`)
    const { startDemo } = await import('../demo/demo.ts')
    await startDemo({
      provider,
      once: options.once === 'true',
      books: options.booking === 'true',
      port: givenPort(processEnvironment().PORT),
    })
  },
}

const isProvider = (name: string): name is DemoMailbox['provider'] => ['imap', 'gmail', 'microsoft'].includes(name)

/** Undefined where any port will do. */
const givenPort = (port = '') => (port === '' || port === '0' ? undefined : port)
