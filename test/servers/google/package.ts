import { createServer } from '@emulators/core'
import { type GoogleMessage, getGoogleStore, googlePlugin, seedFromConfig } from '@emulators/google'

export const client = { id: 'posthorn.apps.googleusercontent.test', secret: 'google-secret' }

/** The published package, in this process: its store, and its routes spoken to without a socket. */
export type Package = ReturnType<typeof openPackage>

export function openPackage(baseUrl: string) {
  const { app, store, tokenMap } = createServer(googlePlugin, { baseUrl })
  const google = getGoogleStore(store)
  const seed = (config: Parameters<typeof seedFromConfig>[2]) => seedFromConfig(store, baseUrl, config)
  seed({ oauth_clients: [{ client_id: client.id, client_secret: client.secret, name: 'Posthorn', redirect_uris: [] }] })

  const bearers = new Map<string, { token: string; used: number }>()
  let issued = 0

  return {
    google,
    seed,
    /** Greater than every id given out so far: that of a mail in a mailbox nobody has. */
    nextHistoryId(): string {
      const id = `tick-${issued++}`
      seed({ messages: [{ id, user_email: 'tick@invalid', subject: id }] })
      return google.messages.findOneBy('gmail_id', id)?.history_id ?? '0'
    },
    /** A request to the package's own routes; with `user`, signed in as them. */
    async ask(path: string, init: RequestInit & { user?: string } = {}): Promise<Response> {
      const headers = new Headers(init.headers)
      if (init.user === undefined) headers.delete('authorization')
      else headers.set('authorization', `Bearer ${bearerOf(init.user)}`)
      return app.fetch(new Request(`${baseUrl}${path}`, { ...init, headers }))
    },
    message: (user: string, id: string): GoogleMessage | undefined =>
      google.messages.findBy('gmail_id', id).find((message) => message.user_email === user),
    messages: (user: string): GoogleMessage[] => google.messages.findBy('user_email', user),
  }

  /** The package refuses a token after 5,000 requests, so that none is used as often. */
  function bearerOf(user: string): string {
    let bearer = bearers.get(user)
    if (!bearer || bearer.used >= 4_000) {
      if (bearer) tokenMap.delete(bearer.token)
      bearer = { token: `inner-${issued}`, used: 0 }
      issued += 1
      bearers.set(user, bearer)
      tokenMap.set(bearer.token, { login: user, id: 1, scopes: [] })
    }
    bearer.used += 1
    return bearer.token
  }
}
