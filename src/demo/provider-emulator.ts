import { startGoogle } from '../../test/servers/google.ts'
import { startMicrosoft } from '../../test/servers/microsoft.ts'
import type { DemoMailbox } from './mailbox.ts'
import { rawMessage, SAMPLE_MESSAGES } from './messages.ts'

type EmulatedProvider = 'gmail' | 'microsoft'

const EMULATORS = {
  gmail: { title: 'Google', user: 'ada@gmail.com', start: startGoogle },
  microsoft: { title: 'Microsoft', user: 'ada@outlook.com', start: startMicrosoft },
}

/**
 * Starts the emulator that the tests use, with one user and the sample messages. Its consent page needs no registration at
 * the real provider.
 */
export async function startProviderEmulator(provider: EmulatedProvider): Promise<DemoMailbox> {
  const { title, user, start } = EMULATORS[provider]
  const server = await start()
  server.addUser(user)
  for (const message of SAMPLE_MESSAGES) await server.deliver(user, rawMessage(message), { date: message.sentAt })
  return {
    provider,
    host: `an emulator of ${title}`,
    address: server.url,
    user,
    settings: server.settings,
    signIn: undefined,
    allowRedirect: (uri) => server.allowRedirect(uri),
    deliver: async (message) => void (await server.deliver(user, rawMessage(message), { date: message.sentAt })),
    close: () => server.close(),
  }
}
