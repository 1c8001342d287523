import { createServer } from '@emulators/core'
import { type GoogleMessage, getGoogleStore, googlePlugin, seedFromConfig } from '@emulators/google'

export const client = { id: 'posthorn.apps.googleusercontent.test', secret: 'google-secret' }

/** The npm emulator of Google, run in this process: its store, and its routes called without a socket. */
export type Emulator = ReturnType<typeof openEmulator>

export function openEmulator(baseUrl: string) {
  const { app, store, tokenMap } = createServer(googlePlugin, { baseUrl })
  const google = getGoogleStore(store)
  const seed = (config: Parameters<typeof seedFromConfig>[2]) => seedFromConfig(store, baseUrl, config)
  seed({ oauth_clients: [{ client_id: client.id, client_secret: client.secret, name: 'Posthorn', redirect_uris: [] }] })

  const bearers = new Map<string, { token: string; used: number }>()
  let issued = 0

  return {
    google,
    seed,
    /** Returns an id greater than all before: the emulator issues one for a message in an unused mailbox. */
    nextHistoryId(): string {
      const id = `tick-${issued++}`
      seed({ messages: [{ id, user_email: 'tick@invalid', subject: id }] })
      return google.messages.findOneBy('gmail_id', id)?.history_id ?? '0'
    },
    /** Sends a request to the emulator's routes, signed in as `user` if given. */
    async request(path: string, init: RequestInit & { user?: string } = {}): Promise<Response> {
      const headers = new Headers(init.headers)
      if (init.user === undefined) headers.delete('authorization')
      else headers.set('authorization', `Bearer ${nextBearer(init.user)}`)
      return app.fetch(new Request(`${baseUrl}${path}`, { ...init, headers }))
    },
    users: () => google.users.all().map(({ uid, email, name }) => ({ id: uid, email, name })),
    message: (user: string, id: string): GoogleMessage | undefined =>
      google.messages.findBy('gmail_id', id).find((message) => message.user_email === user),
    messages: (user: string): GoogleMessage[] => google.messages.findBy('user_email', user),
  }

  /** The emulator refuses a token after 5,000 requests, so each is replaced before that. */
  function nextBearer(user: string): string {
    let bearer = bearers.get(user)
    if (!bearer || bearer.used >= 4_000) {
      if (bearer) tokenMap.delete(bearer.token)
      bearer = { token: `emulator-${issued}`, used: 0 }
      issued += 1
      bearers.set(user, bearer)
      tokenMap.set(bearer.token, { login: user, id: 1, scopes: [] })
    }
    bearer.used += 1
    return bearer.token
  }
}
