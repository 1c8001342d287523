import { authRoutes } from '../accounts/auth/index.ts'
import { accountRoutes, countAccounts, VerificationLimit } from '../accounts/index.ts'
import { schedulerRoutes } from '../booking/index.ts'
import {
  availabilityRoutes,
  calendarChangeRoutes,
  calendarNotifications,
  calendarPushRoutes,
  calendarRoutes,
} from '../calendars/index.ts'
import { deduplicationRoutes } from '../events/deduplication/index.ts'
import { feedRoutes } from '../events/feed/index.ts'
import { deliveryRoutes, endpointRoutes, isSubscription, subscribes, testRoutes } from '../events/webhooks/index.ts'
import { backfillRoutes } from '../mail/backfill/index.ts'
import { draftRoutes } from '../mail/drafts/index.ts'
import { labelChangeRoutes, labelRoutes } from '../mail/labels/index.ts'
import { messageChangeRoutes, messageRoutes, threadRoutes } from '../mail/messages/index.ts'
import { outboxRoutes } from '../mail/outbox/index.ts'
import { pushRoutes } from '../mail/push/index.ts'
import { debouncedQueue, debouncedQueueRoutes } from '../mail/sync/index.ts'
import { trackingRoutes } from '../mail/tracking/index.ts'
import { auditRoutes } from '../operations/audit/index.ts'
import { doctorRoutes } from '../operations/doctor/index.ts'
import { encryptionRoutes } from '../operations/encryption/index.ts'
import { health, healthRoutes, type Phase } from '../operations/health/index.ts'
import { apiKeyRoutes, serviceKey } from '../operations/keys/index.ts'
import { logRoutes } from '../operations/logs/index.ts'
import { metricsRoutes } from '../operations/metrics/index.ts'
import { adminSessionRoutes, portalRoutes } from '../operations/portal-api/index.ts'
import { settingsRoutes } from '../operations/settings/index.ts'
import { site, siteRoutes } from '../operations/site/index.ts'
import { createServer, errorPageRoute, firstOf, type App as HttpServer, openApiRoutes } from '../platform/http/index.ts'
import { authScreenSettings } from './appearance.ts'
import { catalogue } from './feature-list.ts'
import type { Features } from './features.ts'
import type { Infrastructure } from './infrastructure.ts'
import { checksOf } from './provider-checks.ts'
import type { RuntimeContext } from './runtime-context.ts'
import { authScreen } from './settings.ts'
import { providerSetups, signInProblems, signInStates } from './sign-in.ts'
import { VERSION } from './version.ts'

/** The HTTP server with the routes of every feature; it does not listen yet. */
export function httpServer(
  context: RuntimeContext,
  infrastructure: Infrastructure,
  features: Features,
  phase: () => Phase,
): HttpServer {
  const { config, clock, ids, instanceId, log } = context
  const { db, secrets, bus, cache, queue, guard, outbound, records } = infrastructure
  const { accounts, claims, idempotency, licence, login, logins, mailboxes, ownership, reader, sessions } = features
  const shared = { db, bus, queue, clock, ids, log, sealer: secrets.sealer, guard, outbound, catalogue }
  const transaction: typeof db.transaction = (body) => db.transaction(body)
  const pages = site(authScreen(config))
  const server = createServer({
    log,
    ids,
    publicUrl: config.publicUrl,
    authenticator: firstOf(
      serviceKey(secrets.serviceApiKey),
      features.keys.authenticator,
      ...(sessions ? [sessions] : []),
    ),
    idempotency,
    audit: features.audit,
    rateLimits: {
      cache,
      ...(config.apiRequestsPerMinute > 0 && { api: { limit: config.apiRequestsPerMinute, windowMs: 60_000 } }),
    },
    trustedProxies: config.trustedProxies,
    maxConnections: config.maxConnections,
    errorPage: pages.errorPage,
    onResponse: features.metrics.onResponse,
  })

  healthRoutes(server, {
    health: health({
      clock,
      instanceId,
      version: VERSION,
      phase,
      db,
      cache,
      queue,
      bus,
      licence,
      writeFailure: () => ownership.beatFailure(),
      countAccounts: () => countAccounts(db.read),
      providers: () => [{ name: 'imap', canConnect: true }, ...signInStates(config, logins)],
      settingsProblems: () => signInProblems(config),
      keysBesideData: secrets.keysBesideData,
      gmailPush: () => features.puller.state,
      searchFailure: () => features.search.failure(),
      figures: features.figures,
      eventLoop: () => features.eventLoop.read(),
      logExport: () => ({ enabled: config.otelLogsEnabled, dropped: context.droppedLogRecords() }),
    }),
  })
  const verifications = new VerificationLimit()
  authRoutes(server, {
    ...shared,
    idempotency,
    accounts,
    licence,
    logins,
    records,
    verifications,
    imap: mailboxes.imap,
    further: mailboxes.further,
    mail: mailboxes.mail,
    publicUrl: config.publicUrl,
    redirectUrl: config.redirectUrl,
    formPorts: config.formPorts,
    authScreen: authScreen(config),
  })
  accountRoutes(server, {
    db,
    accounts,
    idempotency,
    log,
    login,
    verifications,
    mail: mailboxes.mail,
    further: mailboxes.further,
  })
  const notifications = calendarNotifications({ db, bus })
  pushRoutes(server, { db, bus, log, accounts, acceptOthers: notifications.accept })
  calendarPushRoutes(server, { log, notifications })
  messageRoutes(server, { reader })
  messageChangeRoutes(server, { reader, changer: features.changer, idempotency })
  outboxRoutes(server, { outbox: features.outbox, idempotency, transaction })
  threadRoutes(server, { threads: features.threads })
  trackingRoutes(server, { log, tracking: features.tracking })
  draftRoutes(server, { drafts: features.drafts, idempotency })
  calendarRoutes(server, features.calendarLists)
  availabilityRoutes(server, { availability: features.availability, idempotency })
  calendarChangeRoutes(server, { changer: features.calendarChanges, idempotency })
  schedulerRoutes(server, { scheduler: features.scheduler, idempotency, authScreen: authScreen(config) })
  labelRoutes(server, { db, accounts, changer: features.labels })
  labelChangeRoutes(server, { changer: features.labels, idempotency })
  endpointRoutes(server, { endpoints: features.endpoints, idempotency })
  deliveryRoutes(server, { ...shared, testDeliveries: features.testDeliveries, idempotency })
  testRoutes(server, { catalogue, testDeliveries: features.testDeliveries, idempotency })
  debouncedQueueRoutes(server, { ...shared, instanceId, accounts, sync: features.sync, idempotency })
  backfillRoutes(server, { db, service: features.backfill.service, idempotency })
  feedRoutes(server, { db, streams: features.streams, catalogue, isSubscription, subscribes })
  deduplicationRoutes(server, { ...shared, idempotency, claims })
  apiKeyRoutes(server, { keys: features.keys.service, idempotency, transaction })
  auditRoutes(server, { db })
  if (sessions !== undefined) adminSessionRoutes(server, { sessions, log, transaction })
  logRoutes(server, { logs: features.logs, streams: features.logStreams, cache })
  metricsRoutes(server, { metrics: features.metrics, isPublic: config.metricsPublic })
  portalRoutes(server, {
    db,
    clock,
    accounts,
    sessions,
    syncHealth: features.syncHealth,
    providers: providerSetups(config, logins),
    gmailUnits: { today: features.gmailUnits.today, perDay: config.gmailUnitsPerDay },
    queue: debouncedQueue({ db, bus, instanceId, accounts, sync: features.sync }),
    appearance: { authScreen: authScreen(config), ...authScreenSettings },
    readSanitized: (id, message) => reader.detail(id, message, { sanitize: true }),
  })
  settingsRoutes(server, context)
  doctorRoutes(server, { instanceId, idempotency, checksOf: (provider) => checksOf(provider, config, logins) })
  encryptionRoutes(server, { encryption: features.encryption, idempotency })
  siteRoutes(server, pages, config.publicUrl)
  errorPageRoute(server)
  openApiRoutes(server)
  return server
}
