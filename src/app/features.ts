import { fence, livingInstances, type OwnershipTiming, ownership as ownershipOf } from '../accounts/cluster/index.ts'
import {
  accessTokenOfGone,
  accounts as accountsFeature,
  erasure as erasureOf,
  requestErasure,
  revoker,
} from '../accounts/index.ts'
import { bookingRecorder, scheduler as schedulerOf, type TaskTiming } from '../booking/index.ts'
import {
  availability as availabilityOf,
  type CalendarTiming,
  calendarChanger,
  calendarReader,
  calendarSync,
  GOOGLE_NOTIFICATIONS_PATH,
} from '../calendars/index.ts'
import { duplicateFinder, type SharedClaims, sharedClaims } from '../events/deduplication/index.ts'
import { EventStreams } from '../events/feed/index.ts'
import { recorder } from '../events/index.ts'
import {
  type DuplicateFinder,
  endpoints as endpointsFeature,
  type ReadMessage,
  testDeliveries as testDeliveriesOf,
  type WebhookDeps,
  WebhookEngine,
} from '../events/webhooks/index.ts'
import { type BackfillDeps, backfill as backfillOf } from '../mail/backfill/index.ts'
import { bounceReader } from '../mail/bounces/index.ts'
import { draftService } from '../mail/drafts/index.ts'
import { labelChanger } from '../mail/labels/index.ts'
import { bodyFetcher, messageChanger, messageReader, threadMerger, threadReader } from '../mail/messages/index.ts'
import { type OutboxTiming, outboxEngine, outbox as outboxOf } from '../mail/outbox/index.ts'
import { gmailPuller, push as pushFeature, webhookTarget } from '../mail/push/index.ts'
import { type SearchDeps, search as searchOf } from '../mail/search/index.ts'
import { readSyncHealth, type SyncTiming, sync as syncFeature, syncPositions } from '../mail/sync/index.ts'
import { replyRecorder, tracking as trackingOf } from '../mail/tracking/index.ts'
import { auditLog } from '../operations/audit/index.ts'
import { encryption as encryptionOf } from '../operations/encryption/index.ts'
import { idempotency as idempotencyFeature } from '../operations/idempotency/index.ts'
import { keys as keysOf } from '../operations/keys/index.ts'
import { licence as licenceOf } from '../operations/licence/index.ts'
import { LogStreams, sharedLogs } from '../operations/logs/index.ts'
import { gmailUnits as gmailUnitsOf, metrics as metricsOf, readFigures } from '../operations/metrics/index.ts'
import { adminSessions } from '../operations/portal-api/index.ts'
import { eventLoopMonitor } from '../platform/concurrency/event-loop-delay.ts'
import { lazy } from '../platform/concurrency/lazy.ts'
import type { MailProvider, ProviderName } from '../providers/contract/index.ts'
import type { ImapLimits } from '../providers/imap/index.ts'
import { catalogue, erasures, purgeRules, sealedColumns } from './feature-list.ts'
import type { Infrastructure } from './infrastructure.ts'
import { mailProviders } from './mail-providers.ts'
import { retentionJob } from './retention.ts'
import type { RuntimeContext } from './runtime-context.ts'
import { pubsubSettings, syncSettings } from './settings.ts'
import { signIn } from './sign-in.ts'
import { VERSION } from './version.ts'

/** A part of the service that runs in the background. */
export interface Part {
  start?(): void | Promise<void>
  /** Lets running work finish for at most `drainMs`. */
  stop(drainMs: number): void | Promise<void>
  stopsWith: StopStage
}

/** Parts of one stage stop at the same time, because draining one after the other would take too long. */
const STOP_STAGES = ['work', 'ownership', 'connections'] as const
type StopStage = (typeof STOP_STAGES)[number]

export async function stopParts(parts: readonly Part[], drainMs: number): Promise<void> {
  for (const stage of STOP_STAGES) {
    await Promise.all(parts.filter(({ stopsWith }) => stopsWith === stage).map((part) => part.stop(drainMs)))
  }
}

/** What tests set and operators cannot: pace, limits, and parts in place of the real ones. */
export interface FeatureOptions {
  ownership?: Partial<OwnershipTiming>
  sync?: Partial<SyncTiming>
  calendars?: Partial<CalendarTiming>
  search?: Pick<SearchDeps, 'catchUpMs' | 'smallList' | 'sortLimit'>
  webhooks?: Pick<WebhookDeps, 'leaseMs' | 'sweepMs' | 'sendingThread'>
  backfill?: Pick<BackfillDeps, 'sweepMs'>
  imapLimits?: Partial<ImapLimits>
  /** Used in place of the mail side of every provider. */
  mail?: MailProvider
  outbox?: Partial<OutboxTiming>
  scheduler?: Partial<TaskTiming>
  readMessage?: ReadMessage
  claims?: SharedClaims
  duplicates?: DuplicateFinder
}

export type Features = ReturnType<typeof openFeatures>

/** Makes every feature with the features it needs. Nothing runs until the parts are started. */
export function openFeatures(context: RuntimeContext, infrastructure: Infrastructure, options: FeatureOptions = {}) {
  const { config, clock, ids, instanceId, log } = context
  const { db, secrets, redis, bus, queue, guard, outbound, records } = infrastructure
  const { sealer } = secrets
  const shared = { db, bus, queue, clock, ids, log, sealer, guard, outbound, catalogue }

  const metrics = metricsOf({ clock, version: VERSION })
  const eventLoop = eventLoopMonitor(clock)

  const events = recorder(shared)
  const licence = licenceOf({ key: config.licenceKey, clock, issuer: config.licencePublicKey })
  const idempotency = idempotencyFeature({ db, clock, sealer })
  const audit = auditLog(shared)
  const keys = keysOf(shared)
  const { adminUsername: username, publicUrl } = config
  const { adminPassword: password } = secrets
  const sessions =
    password === undefined ? undefined : adminSessions({ ...shared, publicUrl, credentials: { username, password } })
  const logs = sharedLogs({ bus, ring: context.logs, instanceId, instances: () => livingInstances(db.read) })
  const logStreams = new LogStreams({ bus, ring: context.logs, instanceId, clock, log, logs })

  const logins = signIn(config, clock)
  const login = (provider: ProviderName) => (provider === 'imap' ? undefined : logins[provider])
  const gmailUnits = gmailUnitsOf(shared)
  const mailboxes = mailProviders({
    config,
    guard,
    outbound,
    records,
    clock,
    log,
    logins,
    onGmailUnits(units) {
      metrics.onGmailUnits(units)
      gmailUnits.add(units)
    },
    ...(options.imapLimits && { imapLimits: options.imapLimits }),
    ...(options.mail && { replacement: options.mail }),
  })
  const { mail } = mailboxes

  const accounts = accountsFeature({
    ...shared,
    events,
    licence,
    login,
    onLinked: (accountId) => void ownership.claim(accountId),
    onRefresh: metrics.onRefresh,
    onRemove: requestErasure(queue),
  })
  const ownership = ownershipOf({
    ...shared,
    instanceId,
    presence: infrastructure.presence,
    onInstanceDead: (dead) => queue.releaseInstance(dead),
    ...(options.ownership && { timing: options.ownership }),
  })

  const encryption = encryptionOf({
    ...shared,
    instanceId,
    keyRing: secrets.keyRing,
    columns: sealedColumns,
    instances: () => livingInstances(db.read),
  })

  const puller = gmailPuller({ ...shared, settings: pubsubSettings(config), accounts })
  const webhook = webhookTarget(config.publicUrl)
  const push = pushFeature({
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

  const search = searchOf({ ...shared, ...options.search })
  const bodies = bodyFetcher({ ...shared, accounts, mail })
  const reader = messageReader({
    ...shared,
    accounts,
    events,
    mail,
    search,
    ...(config.syncStoreBodies && { requestBodies: bodies.request }),
  })
  const changer = messageChanger({ ...shared, accounts, events, mail })
  const threads = threadReader({ db, accounts })
  const merger = threadMerger({ ...shared, accounts })
  const labels = labelChanger({ ...shared, accounts, events, mail })

  const { sending, calendars } = mailboxes
  const tracking = trackingOf({ ...shared, events, accounts, baseUrl: config.trackingBaseUrl ?? config.publicUrl })
  const outbox = outboxOf({
    ...shared,
    accounts,
    reader,
    sending,
    tracking,
    tracksByDefault: config.trackingEnabled,
  })
  const drafts = draftService({ ...shared, accounts, events, mail, tracking, outbox, reader, labels })
  const sender = outboxEngine({
    ...shared,
    events,
    accounts,
    sending,
    deleteDraft: drafts.deleteSent,
    messagesPerMinute: config.outboxMessagesPerMinute,
    copyWaitMs: config.outboxCopyWaitSeconds * 1000,
    ...(options.outbox && { timing: options.outbox }),
  })
  const bounces = bounceReader({
    ...shared,
    events,
    accounts,
    reader,
    findByToken: outbox.findSent,
    findByRfcId: tracking.findSent,
  })

  const sync = syncFeature({
    ...shared,
    accounts,
    ownership,
    fence,
    events: replyRecorder({ db, events, ids }),
    mail,
    ...(config.syncStoreBodies && { requestBodies: bodies.request }),
    requestReports: bounces.request,
    push,
    settings: syncSettings(config),
    onRun: metrics.onRun,
    ...(options.sync && { timing: options.sync }),
  })

  const backfill = backfillOf({
    ...shared,
    events,
    accounts,
    mail,
    positions: syncPositions,
    stored: { ...shared, ...(config.syncStoreBodies && { requestBodies: bodies.request }) },
    ...options.backfill,
  })

  const calendarLists = calendarReader({ ...shared, accounts, calendars })
  const availability = availabilityOf({ ...shared, accounts, calendars, lists: calendarLists })
  const calendarEvents = bookingRecorder({ ...shared, events, accounts })
  const calendarChanges = calendarChanger({ ...shared, events: calendarEvents, accounts, calendars })
  const calendarRuns = calendarSync({
    ...shared,
    events: calendarEvents,
    accounts,
    ownership,
    fence,
    calendars,
    pushTarget: (provider) =>
      webhook && (provider === 'gmail' ? { ...webhook, url: config.publicUrl + GOOGLE_NOTIFICATIONS_PATH } : webhook),
    windowMonths: config.syncCalendarWindow,
    ...(options.calendars && { timing: options.calendars }),
  })

  const scheduler = schedulerOf({
    ...shared,
    events,
    accounts,
    outbox,
    calendars: calendarChanges,
    publicUrl: config.publicUrl,
    busyOf: availability.busyOf,
    mailLimits: {
      experience: config.schedulerMailPerExperience,
      client: config.schedulerMailPerClient,
      account: config.schedulerMailPerAccount,
      address: config.schedulerMailPerAddress,
    },
    ...(options.scheduler && { timing: options.scheduler }),
  })

  const endpoints = endpointsFeature(shared)
  const claims = options.claims ?? (redis && sharedClaims({ redis, clock, log }))
  const duplicates = options.duplicates ?? duplicateFinder({ db, claims })
  const webhooks = new WebhookEngine({
    ...shared,
    ...metrics,
    recorder: events,
    duplicates,
    ...(infrastructure.privateTargets !== undefined && {
      sendingThread: { privateTargets: infrastructure.privateTargets },
    }),
    ...options.webhooks,
  })
  const readMessage = options.readMessage ?? reader.asReceived
  const testDeliveries = testDeliveriesOf({ ...shared, recorder: events, readMessage })
  const streams = new EventStreams({
    db,
    bus,
    log,
    maxStreams: config.maxStreams,
    maxPerOwner: config.maxStreamsPerKey,
  })

  const tokenOfGone = accessTokenOfGone({ ...shared, login })
  const erasure = erasureOf({
    ...shared,
    revoke: revoker({ ...shared, login }),
    erase: erasures,
    async forget(accountId) {
      await mailboxes.closeConnections(accountId)
      // A provider may accept a refresh token only once.
      const findToken = lazy(() => tokenOfGone(accountId))
      await Promise.all([
        push.endSubscription(accountId, findToken),
        calendarRuns.endSubscriptions(accountId, findToken),
      ])
      await search.forget(accountId)
    },
  })
  const retention = retentionJob({ ...shared, rules: purgeRules, settings: config })

  const syncHealth = () => readSyncHealth({ db, ownership, sync })
  const figures = () => readFigures({ db, clock, syncHealth })
  metrics.observe({
    ownership,
    eventLoop,
    figures,
    syncTotals: () => sync.totals(),
    droppedLogRecords: context.droppedLogRecords,
  })

  /** In start order: sync and push subscribe before the first changes of ownership. */
  const parts: readonly Part[] = [
    { start: eventLoop.start, stop: eventLoop.close, stopsWith: 'connections' },
    { stop: () => logs.close(), stopsWith: 'connections' },
    { stop: () => logStreams.close(), stopsWith: 'work' },
    { start: encryption.start, stop: encryption.stop, stopsWith: 'connections' },
    { stop: () => gmailUnits.stop(), stopsWith: 'connections' },
    { stop: () => mailboxes.close(), stopsWith: 'connections' },
    { start: keys.start, stop: keys.stop, stopsWith: 'connections' },
    { stop: () => sessions?.stop(), stopsWith: 'connections' },
    { start: () => webhooks.start(), stop: (drainMs) => webhooks.stop(drainMs), stopsWith: 'work' },
    { stop: (drainMs) => testDeliveries.stop(drainMs), stopsWith: 'work' },
    { start: erasure.start, stop: erasure.stop, stopsWith: 'work' },
    { start: retention.start, stop: retention.stop, stopsWith: 'work' },
    ...(config.syncStoreBodies ? [{ start: bodies.start, stop: bodies.stop, stopsWith: 'work' as const }] : []),
    { start: bounces.start, stop: bounces.stop, stopsWith: 'work' },
    { start: search.start, stop: search.stop, stopsWith: 'work' },
    { start: backfill.start, stop: backfill.stop, stopsWith: 'work' },
    { start: merger.start, stop: merger.stop, stopsWith: 'work' },
    { start: sender.start, stop: sender.stop, stopsWith: 'work' },
    { start: scheduler.tasks.start, stop: scheduler.tasks.stop, stopsWith: 'work' },
    { start: sync.start, stop: sync.stop, stopsWith: 'work' },
    { start: calendarRuns.start, stop: calendarRuns.stop, stopsWith: 'work' },
    { start: push.start, stop: push.stop, stopsWith: 'work' },
    { start: () => ownership.start(), stop: () => ownership.stop(), stopsWith: 'ownership' },
  ]
  return {
    events,
    licence,
    idempotency,
    audit,
    keys,
    sessions,
    logs,
    logStreams,
    metrics,
    gmailUnits,
    eventLoop,
    logins,
    login,
    mailboxes,
    accounts,
    ownership,
    encryption,
    puller,
    push,
    sync,
    syncHealth,
    figures,
    backfill,
    reader,
    search,
    changer,
    outbox,
    threads,
    merger,
    sender,
    drafts,
    labels,
    bodies,
    bounces,
    endpoints,
    claims,
    webhooks,
    testDeliveries,
    streams,
    tracking,
    calendarLists,
    calendarRuns,
    availability,
    calendarChanges,
    scheduler,
    parts,
  }
}
