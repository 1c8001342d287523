import type { Route, Routed } from '../fake/router.ts'
import { badRequest, googleError, notFound } from './errors.ts'

interface Channel {
  id: string
  user: string
  calendarId: string
  resourceId: string
  address: string
  token: string
  expiresAt: number
  messages: number
}

/** One request that Google sent to the application. */
export interface ChannelMessage {
  url: string
  headers: Record<string, string>
  /** Null when no response arrived in time. */
  status: number | null
}

const MAX_TTL_S = 7 * 24 * 3600
const TIMEOUT_MS = 10_000

/** The notification channels of Google Calendar: a message when a channel opens, and one for each change. */
export class Channels {
  readonly sent: ChannelMessage[] = []
  readonly #open = new Map<string, Channel>()
  readonly #addresses = new Map<string, string>()
  #pending: Promise<unknown> = Promise.resolve()

  /** Sends requests for URLs that start with `prefix` to `target`, so that a public https URL can lead to loopback. */
  route(prefix: string, target: string): void {
    this.#addresses.set(prefix, target)
  }

  /** The ids of the calendars that a user's channels watch. */
  of(user: string): string[] {
    const open = [...this.#open.values()].filter((channel) => channel.user === user && channel.expiresAt > Date.now())
    return open.map(({ calendarId }) => calendarId)
  }

  changed(user: string, calendarId: string): void {
    for (const channel of this.#open.values()) {
      if (channel.user === user && channel.calendarId === calendarId) this.#notify(channel, 'exists')
    }
  }

  /** Resolves when all messages so far have been sent. */
  async flush(): Promise<void> {
    await this.#pending
  }

  /** `hasCalendar` also refuses calendars that Google does not watch. */
  routes(hasCalendar: (user: string, id: string) => boolean | 'unsupported'): Route[] {
    return [
      {
        method: 'POST',
        pattern: '/calendar/v3/calendars/{calendarId}/events/watch',
        handle: (request) => this.#watch(request, hasCalendar(request.user ?? '', request.params.calendarId ?? '')),
      },
      { method: 'POST', pattern: '/calendar/v3/channels/stop', handle: (request) => this.#stop(request) },
    ]
  }

  #watch({ user, params, body }: Routed, isKnown: boolean | 'unsupported'): Response {
    const {
      id,
      type,
      address,
      token = '',
      params: options,
    } = JSON.parse(body.toString() || '{}') as {
      id?: string
      type?: string
      address?: string
      token?: string
      params?: { ttl?: string }
    }
    if (isKnown === false) return notFound()
    if (isKnown === 'unsupported') {
      const reason = 'pushNotSupportedForRequestedResource'
      return googleError(400, reason, 'INVALID_ARGUMENT', 'Push notifications are not supported by this resource.')
    }
    if (!id || type !== 'web_hook' || !address || token.length > 256) return badRequest('Invalid channel.')
    if (!address.startsWith('https://')) {
      return googleError(400, 'push.webhookUrlNotHttps', 'INVALID_ARGUMENT', 'WebHook callback must be HTTPS.')
    }
    if (!address.startsWith('https://posthorn.test/')) {
      return googleError(
        401,
        'push.webhookUrlUnauthorized',
        'UNAUTHENTICATED',
        `Unauthorized WebHook callback channel.`,
      )
    }
    if (this.#open.has(id)) return googleError(400, 'channelIdNotUnique', 'INVALID_ARGUMENT', 'Channel id not unique')
    const ttl = Math.min(Number(options?.ttl ?? MAX_TTL_S), MAX_TTL_S)
    const calendarId = params.calendarId ?? ''
    const resourceId = Buffer.from(`${user} ${calendarId}`).toString('base64url')
    const expiresAt = Date.now() + ttl * 1000
    const channel = { id, user: user ?? '', calendarId, resourceId, address, token, expiresAt, messages: 0 }
    this.#open.set(id, channel)
    this.#notify(channel, 'sync')
    return Response.json({ kind: 'api#channel', id, resourceId, token, expiration: String(expiresAt) })
  }

  #stop({ body }: Routed): Response {
    const { id = '', resourceId } = JSON.parse(body.toString() || '{}') as { id?: string; resourceId?: string }
    if (this.#open.get(id)?.resourceId !== resourceId) return notFound()
    this.#open.delete(id)
    return new Response(null, { status: 204 })
  }

  #notify(channel: Channel, state: 'sync' | 'exists'): void {
    channel.messages += 1
    const headers = {
      'x-goog-channel-id': channel.id,
      'x-goog-channel-token': channel.token,
      'x-goog-channel-expiration': new Date(channel.expiresAt).toUTCString(),
      'x-goog-resource-id': channel.resourceId,
      'x-goog-resource-state': state,
      'x-goog-message-number': String(channel.messages),
    }
    const message: ChannelMessage = { url: channel.address, headers, status: null }
    this.sent.push(message)
    const route = [...this.#addresses].find(([prefix]) => channel.address.startsWith(prefix))
    const target = route && `${route[1]}${channel.address.slice(route[0].length)}`
    const send = async () => {
      if (target === undefined) return
      const response = await fetch(target, { method: 'POST', headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
      message.status = response.status
    }
    this.#pending = this.#pending.then(send).catch(() => undefined)
  }
}
