import { randomUUID } from 'node:crypto'
import type { Route, Routed } from '../fake/router.ts'
import type { Emulator } from './emulator.ts'
import { graphError } from './errors.ts'
import type { Mailboxes, MailChange } from './mailbox.ts'

export type Lifecycle = 'reauthorizationRequired' | 'subscriptionRemoved' | 'missed'

export interface Subscription {
  id: string
  /** Whose mailbox is watched. */
  user: string
  resource: string
  changeType: string
  notificationUrl: string
  lifecycleNotificationUrl: string | null
  expirationDateTime: string
  clientState: string | null
}

/** One request that Graph sent to the application. */
export interface SentRequest {
  url: string
  kind: 'validation' | 'change' | 'lifecycle'
  body: unknown
  /** Null when no response arrived in time. */
  status: number | null
}

const MAX_LIFETIME_MS = 10_080 * 60_000
const TIMEOUT_MS = 10_000
const invalid = (message: string) => graphError(400, 'ValidationError', message)
const unknown = () => graphError(404, 'ResourceNotFound', 'The object was not found.')

/** Graph's change notifications: the validation handshake, changes and lifecycle events. */
export class Subscriptions {
  /** `owner`: the user whose token created it; null for an application. */
  readonly all = new Map<string, Subscription & { immutable: boolean; owner: string | null }>()
  readonly sent: SentRequest[] = []
  /** When false, no change is notified, as if the notifications were lost. */
  enabled = true
  readonly #routes = new Map<string, string>()
  readonly #emulator: Emulator
  readonly #boxes: () => Mailboxes
  readonly #findMailbox: FindMailbox
  #pending: Promise<unknown> = Promise.resolve()

  constructor(emulator: Emulator, boxes: () => Mailboxes, findMailbox: FindMailbox) {
    this.#findMailbox = findMailbox
    this.#emulator = emulator
    this.#boxes = boxes
  }

  /** Sends requests for URLs that start with `prefix` to `target`, so that a public https URL can lead to loopback. */
  route(prefix: string, target: string): void {
    this.#routes.set(prefix, target)
  }

  get routes(): Route[] {
    return [
      { method: 'POST', pattern: '/v1.0/subscriptions', handle: (request) => this.#create(request) },
      {
        method: 'GET',
        pattern: '/v1.0/subscriptions',
        handle: (request) => Response.json({ value: this.of(request.user ?? '').map(subscriptionResource) }),
      },
      {
        method: 'GET',
        pattern: '/v1.0/subscriptions/{id}',
        handle: (request) => this.#one(request, (found) => Response.json(subscriptionResource(found))),
      },
      {
        method: 'PATCH',
        pattern: '/v1.0/subscriptions/{id}',
        handle: (request) => this.#one(request, (found) => this.#renew(request, found)),
      },
      {
        method: 'DELETE',
        pattern: '/v1.0/subscriptions/{id}',
        handle: (request) => this.#one(request, (found) => this.#end(found)),
      },
    ]
  }

  /** The user's subscriptions that have not expired. */
  of(user: string): Subscription[] {
    return [...this.all.values()].filter(
      (found) => found.user === user && Date.parse(found.expirationDateTime) > Date.now(),
    )
  }

  /** Ends the user's subscriptions without a lifecycle event. */
  expire(user: string): void {
    for (const found of this.of(user)) this.all.delete(found.id)
  }

  /** Notifies every matching subscription; resolves when all have responded. */
  changed(change: MailChange): Promise<void> {
    return this.#queue(async () => {
      if (!this.enabled) return
      for (const found of this.of(change.user)) {
        if (/messages$/i.test(found.resource)) await this.#notify(found, change)
      }
    })
  }

  /** Notifies the subscriptions to events. */
  eventChanged(user: string, id: string, changeType: 'created' | 'updated' | 'deleted'): Promise<void> {
    return this.#queue(async () => {
      if (!this.enabled) return
      const own = this.of(user).filter(({ resource }) => /^\/?(me|users\/[^/]+)\/events$/i.test(resource))
      for (const found of own.filter((subscription) => subscription.changeType.split(',').includes(changeType))) {
        const resource = `Users/${this.#emulator.microsoft.users.findOneBy('email', user)?.oid}/Events/${id}`
        const resourceData = { '@odata.type': '#Microsoft.Graph.Event', '@odata.id': resource, id }
        const notification = {
          ...this.#common(found),
          changeType,
          resource,
          resourceData,
          tenantId: this.#tenant(user),
        }
        await this.#post(found.notificationUrl, 'change', { value: [notification] })
      }
    })
  }

  /** Sends a lifecycle event to the subscriptions of a user; `subscriptionRemoved` removes them as well. */
  lifecycle(user: string, event: Lifecycle): Promise<void> {
    return this.#queue(async () => {
      for (const found of this.of(user)) {
        if (event === 'subscriptionRemoved') this.all.delete(found.id)
        if (found.lifecycleNotificationUrl === null) continue
        const value = [{ lifecycleEvent: event, ...this.#common(found), organizationId: this.#tenant(user) }]
        await this.#post(found.lifecycleNotificationUrl, 'lifecycle', { value })
      }
    })
  }

  /** Resolves when all notifications so far have been sent. */
  async flush(): Promise<void> {
    await this.#pending
  }

  #queue(send: () => Promise<void>): Promise<void> {
    const done = this.#pending.then(send)
    this.#pending = done.catch(() => undefined)
    return done
  }

  async #notify(found: Subscription, change: MailChange): Promise<void> {
    const folder = /mailFolders(?:\('([^']+)'\)|\/([^/]+))\//i.exec(found.resource)
    const watched = folder ? this.#boxes().folder(change.user, folder[1] ?? folder[2] ?? '')?.microsoft_id : null
    if (watched !== null && watched !== change.from && watched !== change.to) return
    const type =
      watched === null
        ? change.type
        : change.to !== watched
          ? 'deleted'
          : change.from !== watched
            ? 'created'
            : change.type
    if (!found.changeType.split(',').includes(type)) return
    const { immutable } = this.all.get(found.id) ?? { immutable: false }
    const id = immutable ? change.id : type === 'deleted' ? change.wasId : this.#boxes().movingId(change.id)
    const resource = `Users/${this.#emulator.microsoft.users.findOneBy('email', change.user)?.oid}/Messages/${id}`
    const resourceData = {
      '@odata.type': '#Microsoft.Graph.Message',
      '@odata.id': resource,
      '@odata.etag': 'W/"1"',
      id,
    }
    const notification = {
      ...this.#common(found),
      changeType: type,
      resource,
      resourceData,
      tenantId: this.#tenant(change.user),
    }
    await this.#post(found.notificationUrl, 'change', { value: [notification] })
  }

  #common({ id, expirationDateTime, clientState }: Subscription) {
    return { subscriptionId: id, subscriptionExpirationDateTime: expirationDateTime, clientState }
  }

  #tenant = (user: string): string => this.#emulator.microsoft.users.findOneBy('email', user)?.tenant_id ?? ''

  async #create(request: Routed): Promise<Response> {
    const body = JSON.parse(request.body.toString() || '{}') as Partial<Subscription>
    const { changeType, notificationUrl, resource, expirationDateTime } = body
    if (!changeType || !notificationUrl || !resource || !expirationDateTime)
      return invalid('A required property is missing.')
    if (!/^(created|updated|deleted)(,(created|updated|deleted))*$/.test(changeType))
      return invalid('Invalid changeType.')
    if (tooLong(expirationDateTime)) return invalid('Subscription expiration can only be 10080 minutes in the future.')
    if ((body.clientState?.length ?? 0) > 128) return invalid('clientState is too long.')
    const lifecycle = body.lifecycleNotificationUrl ?? null
    for (const url of new Set([notificationUrl, lifecycle]))
      if (url !== null && (!url.startsWith('https://') || !(await this.#validates(url))))
        return invalid(
          `Subscription validation request failed. Notification endpoint must respond with 200 OK to validation request.`,
        )
    const mailbox = this.#findMailbox(request, resource)
    if (typeof mailbox !== 'string') return mailbox
    const created = {
      id: randomUUID(),
      user: mailbox,
      owner: request.user,
      resource,
      changeType,
      notificationUrl,
      lifecycleNotificationUrl: lifecycle,
      expirationDateTime,
      clientState: body.clientState ?? null,
      immutable: /IdType\s*=\s*"ImmutableId"/i.test(request.headers.get('prefer') ?? ''),
    }
    this.all.set(created.id, created)
    return Response.json(subscriptionResource(created), { status: 201 })
  }

  #one(request: Routed, act: (found: Subscription) => Response): Response {
    const found = this.all.get(request.params.id ?? '')
    const isOwn = found?.owner === request.user && Date.parse(found?.expirationDateTime ?? '') > Date.now()
    return found && isOwn ? act(found) : unknown()
  }

  #renew(request: Routed, found: Subscription): Response {
    const { expirationDateTime } = JSON.parse(request.body.toString() || '{}') as Partial<Subscription>
    if (!expirationDateTime || tooLong(expirationDateTime)) return invalid('Invalid expirationDateTime.')
    found.expirationDateTime = expirationDateTime
    return Response.json(subscriptionResource(found))
  }

  #end(found: Subscription): Response {
    this.all.delete(found.id)
    return new Response(null, { status: 204 })
  }

  /** The endpoint must return the token, decoded and as plain text, within ten seconds. */
  async #validates(notificationUrl: string): Promise<boolean> {
    const token = `Validation: Testing client application reachability for subscription Request-Id: ${randomUUID()}`
    const url = new URL(notificationUrl)
    url.searchParams.set('validationToken', token)
    const response = await this.#post(url.toString(), 'validation', undefined)
    return response?.status === 200 && response.type.startsWith('text/plain') && response.text === token
  }

  async #post(url: string, kind: SentRequest['kind'], body: unknown) {
    const record: SentRequest = { url, kind, body, status: null }
    this.sent.push(record)
    const route = [...this.#routes].find(([prefix]) => url.startsWith(prefix))
    const target = route ? `${route[1]}${url.slice(route[0].length)}` : url
    try {
      const response = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': body === undefined ? 'text/plain; charset=utf-8' : 'application/json' },
        body: body === undefined ? '' : JSON.stringify(body),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      })
      record.status = response.status
      return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
    } catch {
      return undefined
    }
  }
}

const tooLong = (at: string): boolean => !(Date.parse(at) > Date.now()) || Date.parse(at) > Date.now() + MAX_LIFETIME_MS

const subscriptionResource = ({ user: _, ...found }: Subscription & { immutable?: boolean; owner?: string | null }) => {
  const { immutable: __, owner: ___, ...rest } = found
  return rest
}

/** The user whose mailbox the resource of a subscription is in, or why the token does not open it. */
export type FindMailbox = (request: Routed, resource: string) => string | Response
