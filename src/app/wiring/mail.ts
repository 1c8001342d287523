import { fence } from '../../accounts/cluster/index.ts'
import { backfillRoutes, backfill as createBackfill } from '../../mail/backfill/index.ts'
import { bounceReader } from '../../mail/bounces/index.ts'
import { draftRoutes, draftService } from '../../mail/drafts/index.ts'
import { labelChangeRoutes, labelChanger, labelRoutes } from '../../mail/labels/index.ts'
import {
  bodyFetcher,
  messageChangeRoutes,
  messageChanger,
  messageReader,
  messageRoutes,
  threadMerger,
  threadReader,
  threadRoutes,
} from '../../mail/messages/index.ts'
import { outbox as createOutbox, outboxEngine, outboxRoutes } from '../../mail/outbox/index.ts'
import { push as createPush, gmailPuller, pushRoutes, webhookTarget } from '../../mail/push/index.ts'
import { search as createSearch } from '../../mail/search/index.ts'
import { sync as createSync, debouncedQueueRoutes, syncPositions } from '../../mail/sync/index.ts'
import { tracking as createTracking, replyRecorder, trackingRoutes } from '../../mail/tracking/index.ts'
import type { App as HttpServer } from '../../platform/http/index.ts'
import type { Features } from '../features.ts'
import { pubsubSettings, syncSettings } from '../settings.ts'
import type { Part } from '../start-stop.ts'
import type { Accounts } from './accounts.ts'
import type { Operations } from './operations.ts'
import type { FeatureOptions } from './options.ts'
import type { Shared } from './shared.ts'

export type Push = ReturnType<typeof openPush>

/** Push from the providers: Gmail through Pub/Sub, Microsoft through webhooks. */
export function openPush(shared: Shared, { accounts, mailboxes, ownership }: Accounts) {
  const puller = gmailPuller({ ...shared, settings: pubsubSettings(shared.config), accounts })
  const webhook = webhookTarget(shared.config.publicUrl)
  const push = createPush({
    ...shared,
    accounts,
    ownership,
    fence,
    channels: {
      gmail: {
        provider: mailboxes.push.gmail,
        target: () => (puller.topicName === undefined ? undefined : { kind: 'topic', topicName: puller.topicName }),
        isReceiving: () => puller.state.ready,
      },
      microsoft: {
        provider: mailboxes.push.microsoft,
        target: () => webhook && { kind: 'webhook', ...webhook },
        isReceiving: () => true,
      },
    },
  })
  puller.onChange(push.channelChanged)
  const pushParts: readonly Part[] = [{ start: push.start, stop: push.stop, stopsWith: 'work' }]
  return { puller, push, pushParts }
}

export type Messages = ReturnType<typeof openMessages>

/** Opens the features that read and change mailboxes for requests. */
export function openMessages(shared: Shared, { accounts, mailboxes }: Accounts, options: FeatureOptions) {
  const { config, db } = shared
  const { mail } = mailboxes
  const search = createSearch({ ...shared, ...options.search })
  const bodies = bodyFetcher({ ...shared, accounts, mail })
  /** Fetches bodies in the background, with `sync.storeBodies`. */
  const storing = config.syncStoreBodies ? { requestBodies: bodies.request } : {}
  const reader = messageReader({ ...shared, accounts, mail, search, ...storing })
  const changer = messageChanger({ ...shared, accounts, mail })
  const threads = threadReader({ db, accounts })
  const merger = threadMerger({ ...shared, accounts })
  const labels = labelChanger({ ...shared, accounts, mail })

  const bodyParts: readonly Part[] = [{ start: bodies.start, stop: bodies.stop, stopsWith: 'work' }]
  const messageParts: readonly Part[] = [
    ...(config.syncStoreBodies ? bodyParts : []),
    { start: search.start, stop: search.stop, stopsWith: 'work' },
    { start: merger.start, stop: merger.stop, stopsWith: 'work' },
  ]
  return { search, bodies, storing, reader, changer, threads, merger, labels, messageParts }
}

export type Sending = ReturnType<typeof openSending>

/** Opens the features that send messages, and those that follow sent messages. */
export function openSending(
  shared: Shared,
  { accounts, mailboxes, labels, reader }: Accounts & Messages,
  options: FeatureOptions,
) {
  const { config } = shared
  const { mail, sending } = mailboxes
  const tracking = createTracking({ ...shared, accounts, baseUrl: config.trackingBaseUrl ?? config.publicUrl })
  const outbox = createOutbox({
    ...shared,
    accounts,
    reader,
    sending,
    tracking,
    tracksByDefault: config.trackingEnabled,
  })
  const drafts = draftService({ ...shared, accounts, mail, sending, tracking, outbox, reader, labels })
  const sender = outboxEngine({
    ...shared,
    accounts,
    sending,
    deleteDraft: drafts.deleteSent,
    messagesPerMinute: config.outboxMessagesPerMinute,
    copyWaitMs: config.outboxCopyWaitSeconds * 1000,
    ...(options.outbox && { timing: options.outbox }),
  })
  const bounces = bounceReader({
    ...shared,
    accounts,
    reader,
    findByToken: outbox.findSent,
    findByRfcId: tracking.findSent,
  })

  const sendingParts: readonly Part[] = [
    { start: bounces.start, stop: bounces.stop, stopsWith: 'work' },
    { start: sender.start, stop: sender.stop, stopsWith: 'work' },
  ]
  return { tracking, outbox, drafts, sender, bounces, sendingParts }
}

/** Sync with the mailboxes, and the backfill of older mail. */
export function openSync(
  shared: Shared,
  others: Operations & Accounts & Push & Messages & Sending,
  options: FeatureOptions,
) {
  const { accounts, bounces, metrics, ownership, push, storing } = others
  const { mail } = others.mailboxes
  const sync = createSync({
    ...shared,
    accounts,
    ownership,
    fence,
    events: replyRecorder(shared),
    mail,
    ...storing,
    requestReports: bounces.request,
    push,
    settings: syncSettings(shared.config),
    onRun: metrics.onRun,
    ...(options.sync && { timing: options.sync }),
  })
  const backfill = createBackfill({
    ...shared,
    accounts,
    mail,
    positions: syncPositions,
    stored: { ...shared, ...storing },
    ...options.backfill,
  })

  const syncParts: readonly Part[] = [
    { start: backfill.start, stop: backfill.stop, stopsWith: 'work' },
    { start: sync.start, stop: sync.stop, stopsWith: 'work' },
  ]
  return { sync, backfill, syncParts }
}

export function mailRoutes(server: HttpServer, shared: Shared, features: Features): void {
  const { db, log } = shared
  const { accounts, changer, drafts, idempotency, labels, outbox, reader, sync, threads, tracking } = features
  pushRoutes(server, { ...shared, accounts, acceptOthers: features.notifications.accept })
  messageRoutes(server, { reader })
  messageChangeRoutes(server, { reader, changer, idempotency })
  outboxRoutes(server, { outbox, idempotency, transaction: (body) => db.transaction(body) })
  threadRoutes(server, { threads })
  trackingRoutes(server, { log, tracking })
  draftRoutes(server, { drafts, idempotency })
  labelRoutes(server, { db, accounts, changer: labels })
  labelChangeRoutes(server, { changer: labels, idempotency })
  debouncedQueueRoutes(server, { ...shared, accounts, sync, idempotency })
  backfillRoutes(server, { db, service: features.backfill.service, idempotency })
}
