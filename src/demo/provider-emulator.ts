import { startGoogle } from '../../test/servers/google.ts'
import { startMicrosoft } from '../../test/servers/microsoft.ts'
import { type MessageText, rawMessage, SAMPLE_MESSAGES } from './messages.ts'

/** A mail provider with a consent page, emulated on this machine. It needs no registration at the real provider. */
export interface ProviderEmulator {
  /** The name of the provider. */
  title: string
  url: string
  user: string
  /** Environment variables that make the service use the emulator. */
  settings: Record<string, string>
  /** Registers a redirect URI. */
  allowRedirect(uri: string): void
  /** Delivers a message to the inbox. */
  deliver(message: MessageText): Promise<void>
  close(): Promise<void>
}

export type EmulatedProvider = 'gmail' | 'microsoft'

const EMULATORS = {
  gmail: { title: 'Google', user: 'ada@gmail.com', start: startGoogle },
  microsoft: { title: 'Microsoft', user: 'ada@outlook.com', start: startMicrosoft },
}

/** Starts the emulator that the tests use, with one user and the sample messages. */
export async function startProviderEmulator(name: EmulatedProvider): Promise<ProviderEmulator> {
  const { title, user, start } = EMULATORS[name]
  const server = await start()
  server.addUser(user)
  for (const message of SAMPLE_MESSAGES) await server.deliver(user, rawMessage(message), { date: message.sentAt })
  return {
    ...{ title, url: server.url, user, settings: server.settings },
    allowRedirect: (uri) => server.allowRedirect(uri),
    deliver: async (message) => void (await server.deliver(user, rawMessage(message), { date: message.sentAt })),
    close: () => server.close(),
  }
}
