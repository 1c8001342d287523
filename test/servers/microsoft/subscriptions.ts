import { randomUUID } from 'node:crypto'
import type { Route, Routed } from '../fake/router.ts'
import { graphError } from './errors.ts'
import type { Mailboxes, MailChange } from './mailbox.ts'
import type { Package } from './package.ts'

export type Lifecycle = 'reauthorizationRequired' | 'subscriptionRemoved' | 'missed'

export interface Subscription {
  id: string
  user: string
  resource: string
  changeType: string
  notificationUrl: string
  lifecycleNotificationUrl: string | null
  expirationDateTime: string
  clientState: string | null
}

/** One request that was sent to the application. */
export interface Sent {
  url: string
  kind: 'validation' | 'change' | 'lifecycle'
  body: unknown
  /** Null: nobody answered in time. */
  status: number | null
}

const LONGEST_MS = 10_080 * 60_000
const VALIDATION_MS = 10_000
const invalid = (message: string) => graphError(400, 'ValidationError', message)
const unknown = () => graphError(404, 'ResourceNotFound', 'The object was not found.')

/** Change notifications of Graph: the handshake, what changed, and the events of a subscription's life. */
export class Subscriptions {
  readonly all = new Map<string, Subscription & { immutable: boolean }>()
  readonly sent: Sent[] = []
  /** Set to false: changes happen and nobody is told, as when notifications get lost. */
  telling = true
  readonly #via = new Map<string, string>()
  readonly #inner: Package
  readonly #boxes: () => Mailboxes
  #sending: Promise<unknown> = Promise.resolve()

  constructor(inner: Package, boxes: () => Mailboxes) {
    this.#inner = inner
    this.#boxes = boxes
  }

  /** Requests to addresses that begin with `prefix` go to `target` instead, so that a public https address may stand for loopback. */
  route(prefix: string, target: string): void {
    this.#via.set(prefix, target)
  }

  get routes(): Route[] {
    return [
      { method: 'POST', pattern: '/v1.0/subscriptions', answer: (request) => this.#create(request) },
      {
        method: 'GET',
        pattern: '/v1.0/subscriptions',
        answer: (request) => Response.json({ value: this.of(request.user ?? '').map(shown) }),
      },
      {
        method: 'GET',
        pattern: '/v1.0/subscriptions/{id}',
        answer: (request) => this.#one(request, (found) => Response.json(shown(found))),
      },
      {
        method: 'PATCH',
        pattern: '/v1.0/subscriptions/{id}',
        answer: (request) => this.#one(request, (found) => this.#renew(request, found)),
      },
      {
        method: 'DELETE',
        pattern: '/v1.0/subscriptions/{id}',
        answer: (request) => this.#one(request, (found) => this.#end(found)),
      },
    ]
  }

  /** Those that have not run out. */
  of(user: string): Subscription[] {
    return [...this.all.values()].filter(
      (found) => found.user === user && Date.parse(found.expirationDateTime) > Date.now(),
    )
  }

  /** They end without a word. */
  expire(user: string): void {
    for (const found of this.of(user)) this.all.delete(found.id)
  }

  /** Tells every subscription of the change; resolves when all have answered. */
  changed(change: MailChange): Promise<void> {
    return this.#queue(async () => {
      if (!this.telling) return
      for (const found of this.of(change.user)) await this.#tell(found, change)
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

  /** Resolves when everything so far has been sent. */
  async settled(): Promise<void> {
    await this.#sending
  }

  #queue(send: () => Promise<void>): Promise<void> {
    const done = this.#sending.then(send)
    this.#sending = done.catch(() => undefined)
    return done
  }

  async #tell(found: Subscription, change: MailChange): Promise<void> {
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
    const resource = `Users/${this.#inner.microsoft.users.findOneBy('email', change.user)?.oid}/Messages/${id}`
    const resourceData = {
      '@odata.type': '#Microsoft.Graph.Message',
      '@odata.id': resource,
      '@odata.etag': 'W/"1"',
      id,
    }
    const notice = {
      ...this.#common(found),
      changeType: type,
      resource,
      resourceData,
      tenantId: this.#tenant(change.user),
    }
    await this.#post(found.notificationUrl, 'change', { value: [notice] })
  }

  #common({ id, expirationDateTime, clientState }: Subscription) {
    return { subscriptionId: id, subscriptionExpirationDateTime: expirationDateTime, clientState }
  }

  #tenant = (user: string): string => this.#inner.microsoft.users.findOneBy('email', user)?.tenant_id ?? ''

  async #create(request: Routed): Promise<Response> {
    const asked = JSON.parse(request.body.toString() || '{}') as Partial<Subscription>
    const { changeType, notificationUrl, resource, expirationDateTime } = asked
    if (!changeType || !notificationUrl || !resource || !expirationDateTime)
      return invalid('A required property is missing.')
    if (!/^(created|updated|deleted)(,(created|updated|deleted))*$/.test(changeType))
      return invalid('Invalid changeType.')
    if (tooLong(expirationDateTime)) return invalid('Subscription expiration can only be 10080 minutes in the future.')
    if ((asked.clientState?.length ?? 0) > 128) return invalid('clientState is too long.')
    const lifecycle = asked.lifecycleNotificationUrl ?? null
    for (const url of new Set([notificationUrl, lifecycle]))
      if (url !== null && (!url.startsWith('https://') || !(await this.#validates(url))))
        return invalid(
          `Subscription validation request failed. Notification endpoint must respond with 200 OK to validation request.`,
        )
    const made = {
      id: randomUUID(),
      user: request.user ?? '',
      resource,
      changeType,
      notificationUrl,
      lifecycleNotificationUrl: lifecycle,
      expirationDateTime,
      clientState: asked.clientState ?? null,
      immutable: /IdType\s*=\s*"ImmutableId"/i.test(request.headers.get('prefer') ?? ''),
    }
    this.all.set(made.id, made)
    return Response.json(shown(made), { status: 201 })
  }

  #one(request: Routed, act: (found: Subscription) => Response): Response {
    const found = this.of(request.user ?? '').find(({ id }) => id === request.params.id)
    return found ? act(found) : unknown()
  }

  #renew(request: Routed, found: Subscription): Response {
    const { expirationDateTime } = JSON.parse(request.body.toString() || '{}') as Partial<Subscription>
    if (!expirationDateTime || tooLong(expirationDateTime)) return invalid('Invalid expirationDateTime.')
    found.expirationDateTime = expirationDateTime
    return Response.json(shown(found))
  }

  #end(found: Subscription): Response {
    this.all.delete(found.id)
    return new Response(null, { status: 204 })
  }

  /** The token is to come back decoded, as plain text, within ten seconds. */
  async #validates(notificationUrl: string): Promise<boolean> {
    const token = `Validation: Testing client application reachability for subscription Request-Id: ${randomUUID()}`
    const url = new URL(notificationUrl)
    url.searchParams.set('validationToken', token)
    const answer = await this.#post(url.toString(), 'validation', undefined)
    return answer?.status === 200 && answer.type.startsWith('text/plain') && answer.text === token
  }

  async #post(url: string, kind: Sent['kind'], body: unknown) {
    const record: Sent = { url, kind, body, status: null }
    this.sent.push(record)
    const via = [...this.#via].find(([prefix]) => url.startsWith(prefix))
    const target = via ? `${via[1]}${url.slice(via[0].length)}` : url
    try {
      const answer = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': body === undefined ? 'text/plain; charset=utf-8' : 'application/json' },
        body: body === undefined ? '' : JSON.stringify(body),
        signal: AbortSignal.timeout(VALIDATION_MS),
      })
      record.status = answer.status
      return { status: answer.status, type: answer.headers.get('content-type') ?? '', text: await answer.text() }
    } catch {
      return undefined
    }
  }
}

const tooLong = (at: string): boolean => !(Date.parse(at) > Date.now()) || Date.parse(at) > Date.now() + LONGEST_MS

const shown = ({ user: _, ...found }: Subscription & { immutable?: boolean }) => {
  const { immutable: __, ...rest } = found
  return rest
}
