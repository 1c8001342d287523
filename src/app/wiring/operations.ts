import { livingInstances } from '../../accounts/cluster/index.ts'
import { accountQueries } from '../../accounts/index.ts'
import { debouncedQueue } from '../../mail/sync/index.ts'
import { apiKeyRoutes, keys as createKeys } from '../../operations/api-keys/index.ts'
import { auditLog, auditRoutes } from '../../operations/audit/index.ts'
import { doctorRoutes } from '../../operations/doctor/index.ts'
import { encryption as createEncryption, encryptionRoutes } from '../../operations/encryption/index.ts'
import { health, healthRoutes, type Phase } from '../../operations/health/index.ts'
import { idempotency as createIdempotency } from '../../operations/idempotency/index.ts'
import { licence as createLicence } from '../../operations/licence/index.ts'
import { LogStreams, logRoutes, sharedLogs } from '../../operations/logs/index.ts'
import {
  gmailUnits as createGmailUnits,
  metrics as createMetrics,
  metricsRoutes,
} from '../../operations/metrics/index.ts'
import { activityCounter, adminSessionRoutes, adminSessions, portalRoutes } from '../../operations/portal-api/index.ts'
import { settingsRoutes } from '../../operations/settings/index.ts'
import { eventLoopMonitor } from '../../platform/concurrency/event-loop-delay.ts'
import type { App as HttpServer } from '../../platform/http/index.ts'
import { authScreenSettings } from '../appearance.ts'
import { sealedColumns } from '../feature-list.ts'
import type { Features } from '../features.ts'
import type { Infrastructure } from '../infrastructure.ts'
import { findChecks } from '../provider-checks.ts'
import type { RuntimeContext } from '../runtime-context.ts'
import { authScreen } from '../settings.ts'
import { providerSetups, signInProblems, signInStates } from '../sign-in.ts'
import type { Part } from '../start-stop.ts'
import { VERSION } from '../version.ts'
import type { Shared } from './shared.ts'

export type Operations = ReturnType<typeof openOperations>

/** Opens the features for operators, and those that requests of every feature pass through. */
export function openOperations(context: RuntimeContext, infrastructure: Infrastructure, shared: Shared) {
  const { config, clock, db, bus, log, instanceId } = shared
  const { keyRing, adminPassword } = infrastructure.secrets
  const instances = () => livingInstances(db.read)

  const metrics = createMetrics({ clock, version: VERSION })
  const eventLoop = eventLoopMonitor(clock)
  const gmailUnits = createGmailUnits(shared)
  const activity = activityCounter(shared)
  const licence = createLicence({ key: config.licenceKey, clock, issuer: config.licencePublicKey })
  const idempotency = createIdempotency(shared)
  const audit = auditLog(shared)
  const keys = createKeys(shared)
  const sessions =
    adminPassword === undefined
      ? undefined
      : adminSessions({
          ...shared,
          publicUrl: config.publicUrl,
          credentials: { username: config.adminUsername, password: adminPassword },
        })
  const logs = sharedLogs({ bus, ring: context.logs, instanceId, instances })
  const logStreams = new LogStreams({ bus, ring: context.logs, instanceId, clock, log, logs })
  const encryption = createEncryption({ ...shared, keyRing, columns: sealedColumns, instances })

  const operationParts: readonly Part[] = [
    { start: eventLoop.start, stop: eventLoop.close, stopsWith: 'connections' },
    { stop: () => logs.close(), stopsWith: 'connections' },
    { stop: () => logStreams.close(), stopsWith: 'work' },
    { start: encryption.start, stop: encryption.stop, stopsWith: 'connections' },
    { stop: () => gmailUnits.stop(), stopsWith: 'connections' },
    // After the work that it counts.
    { stop: () => activity.stop(), stopsWith: 'ownership' },
    { start: keys.start, stop: keys.stop, stopsWith: 'connections' },
    { stop: () => sessions?.stop(), stopsWith: 'connections' },
  ]
  return {
    metrics,
    activity,
    eventLoop,
    gmailUnits,
    licence,
    idempotency,
    audit,
    keys,
    sessions,
    logs,
    logStreams,
    encryption,
    operationParts,
  }
}

interface HealthSources {
  context: RuntimeContext
  infrastructure: Infrastructure
  features: Features
  phase(): Phase
}

/** Health for load balancers and operators: one source per thing that can fail. */
export function healthRoute(server: HttpServer, { context, infrastructure, features, phase }: HealthSources): void {
  const { config, clock, instanceId } = context
  const { db, cache, queue, bus, secrets } = infrastructure
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
      licence: features.licence,
      writeFailure: () => features.ownership.beatFailure(),
      countAccounts: () => accountQueries(db.read).count(),
      providers: () => [{ name: 'imap', canConnect: true }, ...signInStates(config, features.logins)],
      settingsProblems: () => signInProblems(config),
      keysBesideData: secrets.keysBesideData,
      gmailPush: () => features.puller.state,
      searchFailure: () => features.search.failure(),
      figures: features.figures,
      eventLoop: () => features.eventLoop.read(),
      logExport: () => ({ enabled: config.otelLogsEnabled, dropped: context.droppedLogRecords() }),
    }),
  })
}

/** Keys, audit, logs, metrics, the portal, settings, doctor and encryption. */
export function operationRoutes(
  server: HttpServer,
  context: RuntimeContext,
  infrastructure: Infrastructure,
  features: Features,
): void {
  const { config, clock, instanceId, log } = context
  const { db, bus, cache, guard } = infrastructure
  const { accounts, gmailUnits, idempotency, keys, logins, reader, sessions, sync } = features
  const transaction: typeof db.transaction = (body) => db.transaction(body)

  apiKeyRoutes(server, { keys: keys.service, idempotency, transaction })
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
    gmailUnits: { today: gmailUnits.today, perDay: config.gmailUnitsPerDay },
    queue: debouncedQueue({ db, bus, instanceId, accounts, sync }),
    appearance: { authScreen: authScreen(config), ...authScreenSettings },
    activity: features.activity,
    readSanitized: (id, message) => reader.detail(id, message, { sanitize: true }),
  })
  settingsRoutes(server, context)
  doctorRoutes(server, {
    instanceId,
    idempotency,
    findChecks: (provider) => findChecks(provider, config, logins, guard),
  })
  encryptionRoutes(server, { encryption: features.encryption, idempotency })
}
