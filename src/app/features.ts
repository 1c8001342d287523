import type { AddressInfo } from 'node:net'
import type { Config } from '../config/index.ts'
import { eraseEvents, recorder } from '../events/index.ts'
import {
  accountRoutes,
  accounts as accountsFeature,
  countAccounts,
  erasure,
  fence,
  livingInstances,
  ownership as ownershipOf,
  refreshTokenOfGone,
  revoker,
} from '../features/accounts/index.ts'
import { authRoutes } from '../features/auth/index.ts'
import { deduplicationRoutes, repeats, sharedClaims } from '../features/deduplication/index.ts'
import { EventStreams, feedRoutes } from '../features/feed/index.ts'
import { health, healthRoutes, type Phase } from '../features/health/index.ts'
import { idempotency as idempotencyFeature } from '../features/idempotency/index.ts'
import { serviceKey } from '../features/keys/index.ts'
import { eraseLabels, labelRoutes } from '../features/labels/index.ts'
import { licence as licenceOf } from '../features/licence/index.ts'
import { logRoutes, sharedLogs } from '../features/logs/index.ts'
import { bodyKeeper, eraseMessages, messageReader, messageRoutes } from '../features/messages/index.ts'
import {
  erasePush,
  gmailPuller,
  type Push,
  push as pushFeature,
  pushLane,
  pushRoutes,
  webhookTarget,
} from '../features/push/index.ts'
import {
  debouncedQueueRoutes,
  eraseCursors,
  lookSoon,
  sync as syncFeature,
  syncLane,
  wakeAccount,
} from '../features/sync/index.ts'
import {
  cancelForAccount,
  deliveryRoutes,
  endpointRoutes,
  endpoints as endpointsFeature,
  eraseDeliveries,
  isSubscription,
  notices,
  subscribes,
  testDeliveries as testDeliveriesOf,
  WebhookEngine,
} from '../features/webhooks/index.ts'
import { closeServer, createServer, type App as HttpServer, openApiRoutes } from '../infra/http/index.ts'
import type { ProviderName } from '../providers/contract/index.ts'
import type { AuthScreen } from '../ui/hosted/index.ts'
import type { Infrastructure } from './infrastructure.ts'
import { mailProviders } from './mail-providers.ts'
import { retentionJob } from './retention.ts'
import type { RuntimeContext } from './runtime-context.ts'
import { signIn, signInProblems, signInStates, tellSignIn } from './sign-in.ts'
import { VERSION } from './version.ts'

/** The features of the service, wired. */
export interface Features {
  /** Starts the workers and the HTTP server; returns its address. */
  start(port: number): Promise<string>
  /** Stops accepting requests, waits up to `drainMs` for running work, then releases the accounts. Twice safely. */
  close(drainMs: number): Promise<void>
}

/** Makes every feature and hands it what it needs of the others. */
export function openFeatures(context: RuntimeContext, infrastructure: Infrastructure): Features {
  const { config, clock, ids, instanceId, log } = context
  const { db, secrets, redis, bus, cache, queue, guard, outbound, records } = infrastructure
  const { sealer } = secrets
  const shared = { db, bus, queue, clock, ids, log, sealer, guard, outbound }
  let phase: Phase = 'starting'

  const events = recorder({ clock, ids, bus })
  const licence = licenceOf({ key: config.licenceKey, clock })
  const logins = signIn(config, clock)
  const login = (provider: ProviderName) => (provider === 'imap' ? undefined : logins[provider])
  const mailboxes = mailProviders({ config, guard, clock, logins })
  const { mail } = mailboxes

  const erasing = erasure({
    ...shared,
    revoke: revoker({ ...shared, login }),
    erase: [eraseDeliveries, eraseEvents, eraseMessages, eraseCursors, eraseLabels, erasePush],
    async forget(accountId) {
      await mailboxes.closeOperations(accountId)
      await push.forget(accountId)
    },
  })
  const accounts = accountsFeature({
    ...shared,
    events,
    licence,
    login,
    async onRemove(tx, accountId) {
      await cancelForAccount(tx, accountId)
      await erasing.later(tx, accountId)
    },
  })
  const ownership = ownershipOf({
    ...shared,
    instanceId,
    async onInstanceDead(dead) {
      await queue.releaseInstance(dead)
      await queue.dropLane(syncLane(dead))
      await queue.dropLane(pushLane(dead))
    },
  })
  const look = lookSoon(queue)
  const puller = gmailPuller({
    ...shared,
    settings: pubsubSettings(config),
    lookSoon: look,
    onChange: () => push.wayChanged(),
  })
  const webhook = webhookTarget(config.publicUrl)
  const push: Push = pushFeature({
    ...shared,
    accounts,
    ownership,
    fence,
    login,
    lookSoon: look,
    refreshTokenOfGone: refreshTokenOfGone(shared),
    ways: {
      gmail: {
        provider: mailboxes.push.gmail,
        target: () => (puller.topicName === undefined ? undefined : { kind: 'topic', topicName: puller.topicName }),
        isHeard: () => puller.state.ready,
      },
      microsoft: {
        provider: mailboxes.push.microsoft,
        target: () => webhook && { kind: 'webhook', ...webhook },
        isHeard: () => true,
      },
    },
  })
  const bodies = bodyKeeper({ ...shared, accounts, mail })
  const sync = syncFeature({
    ...shared,
    accounts,
    ownership,
    fence,
    events,
    mail,
    ...(config.syncStoreBodies && { keepBodies: bodies.want }),
    isPushed: (accountId) => push.isPushed(accountId),
    settings: {
      initialMessages: config.syncInitialMessages,
      folders: config.syncFolders,
      includeBodies: config.webhookIncludeBodies,
    },
  })
  const reader = messageReader({ ...shared, accounts, mail })
  const claims = redis && sharedClaims({ redis, clock, log })
  const webhooks = new WebhookEngine({ ...shared, recorder: events, duplicates: repeats({ db, claims }) })
  const testDeliveries = testDeliveriesOf({ ...shared, recorder: events, readMessage: reader.asReceived })
  const streams = new EventStreams(shared)
  const retention = retentionJob({ ...shared, retention: config })
  const logs = sharedLogs({ bus, ring: context.logs, instanceId, instances: () => livingInstances(db.read) })

  const idempotency = idempotencyFeature({ db, clock, sealer })
  const server = createServer({
    log,
    ids,
    authenticator: serviceKey(secrets.serviceApiKey),
    idempotency,
    rateLimits: { cache, ...(config.apiRequestsPerMinute > 0 && { api: perMinute(config.apiRequestsPerMinute) }) },
    trustedProxies: config.trustedProxies,
  })

  const healthOf = health({
    clock,
    instanceId,
    version: VERSION,
    phase: () => phase,
    db,
    cache,
    writeFailure: () => ownership.beatFailure(),
    queue,
    bus,
    licence,
    countAccounts: () => countAccounts(db.read),
    providers: () => [{ name: 'imap', canConnect: true }, ...signInStates(config, logins)],
    settingsProblems: () => signInProblems(config),
    keysBesideData: secrets.keysBesideData,
    gmailPush: () => puller.state,
  })
  healthRoutes(server, { health: healthOf })
  authRoutes(server, {
    ...shared,
    idempotency,
    accounts,
    licence,
    publicUrl: config.publicUrl,
    redirectUrl: config.redirectUrl,
    imap: mailboxes.imap,
    mail,
    logins,
    records,
    authScreen: authScreenOf(config),
  })
  accountRoutes(server, { db, accounts, idempotency, log, mail, login, wake: wakeAccount(bus) })
  pushRoutes(server, { db, log, lookSoon: look, tendSoon: push.tendSoon })
  messageRoutes(server, { reader })
  labelRoutes(server, { db, accounts })
  endpointRoutes(server, { endpoints: endpointsFeature(shared), idempotency })
  deliveryRoutes(server, { ...shared, testDeliveries, idempotency })
  debouncedQueueRoutes(server, { ...shared, accounts, idempotency })
  feedRoutes(server, { db, streams, isSubscription, subscribes })
  deduplicationRoutes(server, { ...shared, idempotency, claims })
  logRoutes(server, { logs, cache })
  openApiRoutes(
    server,
    {
      title: 'Posthorn',
      version: VERSION,
      description: 'Mailboxes behind one REST API and signed webhooks.',
      serverUrl: config.publicUrl,
    },
    notices(),
  )

  async function stop(drainMs: number): Promise<void> {
    phase = 'draining'
    streams.close()
    await Promise.all([
      closeServer(server, drainMs),
      puller.stop(),
      sync.stop(drainMs),
      push.stop(drainMs),
      bodies.stop(drainMs),
      webhooks.stop(drainMs),
      testDeliveries.stop(drainMs),
      erasing.stop(),
      retention.stop(),
    ])
    await ownership.stop()
    logs.close()
    await mailboxes.closeOperations()
  }

  let stopping: Promise<void> | undefined
  return {
    async start(port) {
      await webhooks.start()
      await erasing.start()
      await retention.start()
      if (config.syncStoreBodies) await bodies.start()
      sync.start()
      push.start()
      await ownership.start()
      await server.listen({ host: config.host, port })
      phase = 'ready'
      puller.start()
      tellSignIn(config, logins, log)
      return addressOf(server)
    },
    close(drainMs) {
      stopping ??= stop(drainMs)
      return stopping
    },
  }
}

function pubsubSettings(config: Config) {
  return {
    url: config.googlePubsubUrl,
    ...(config.pubsubTopicName !== undefined && { topicName: config.pubsubTopicName }),
    ...(config.pubsubSubscriptionName !== undefined && { subscriptionName: config.pubsubSubscriptionName }),
    ...(config.applicationCredentials !== undefined && { credentials: config.applicationCredentials }),
    maxMessages: config.pubsubMaxMessages,
    ackDeadlineSeconds: config.pubsubAckDeadline,
    maxRetries: config.pubsubMaxRetries,
  }
}

function addressOf(server: HttpServer): string {
  const { address, family, port } = server.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function authScreenOf(config: Config): AuthScreen {
  return {
    name: config.authScreenName,
    logoUrl: config.authScreenLogoUrl,
    color: config.authScreenColor,
    supportUrl: config.authScreenSupportUrl,
    privacyUrl: config.authScreenPrivacyUrl,
  }
}

const perMinute = (limit: number) => ({ limit, windowMs: 60_000 })
