import { schedulerRoutes } from '../booking/index.ts'
import { isLoopback } from '../config/index.ts'
import { serviceKey } from '../operations/api-keys/index.ts'
import type { Phase } from '../operations/health/index.ts'
import { mcpRoutes } from '../operations/mcp/index.ts'
import { site, siteRoutes } from '../operations/site/index.ts'
import { combineAuthenticators, createServer, type App as HttpServer, openApiRoutes } from '../platform/http/index.ts'
import type { Features } from './features.ts'
import type { Infrastructure } from './infrastructure.ts'
import { portalAccess } from './portal-access.ts'
import type { RuntimeContext } from './runtime-context.ts'
import { authScreen } from './settings.ts'
import { VERSION } from './version.ts'
import { accountsRoutes } from './wiring/accounts.ts'
import { calendarsRoutes } from './wiring/calendars.ts'
import { contactsRoutes } from './wiring/contacts.ts'
import { eventRoutes } from './wiring/events.ts'
import { mailRoutes } from './wiring/mail.ts'
import { healthRoute, operationRoutes } from './wiring/operations.ts'

/** The HTTP server with the routes of every feature; it does not listen yet. */
export function httpServer(
  context: RuntimeContext,
  infrastructure: Infrastructure,
  features: Features,
  phase: () => Phase,
): HttpServer {
  const { clock, config, ids, log } = context
  const { cache, secrets } = infrastructure
  const { idempotency, keys, scheduler, sessions, shared } = features
  const access = portalAccess(config)
  const pages = site({
    authScreen: authScreen(config),
    // Strangers who can open the page learn neither the user nor the file.
    portal: access && { signIn: isLoopback(config.publicUrl) ? access : undefined },
  })
  const server = createServer({
    log,
    ids,
    publicUrl: config.publicUrl,
    authenticator: combineAuthenticators(
      serviceKey(secrets.serviceApiKey),
      keys.authenticator,
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

  // The API reference lists the paths in this order.
  healthRoute(server, { context, infrastructure, features, phase })
  accountsRoutes(server, shared, features)
  mailRoutes(server, shared, features)
  calendarsRoutes(server, shared, features)
  contactsRoutes(server, features)
  schedulerRoutes(server, { scheduler, idempotency, authScreen: authScreen(config) })
  eventRoutes(server, shared, features)
  operationRoutes(server, context, infrastructure, features)
  siteRoutes(server, pages, config.publicUrl)
  openApiRoutes(server)
  if (config.mcpEnabled) {
    mcpRoutes(server, {
      version: VERSION,
      clock,
      log,
      isReadOnly: config.mcpReadOnly,
      allowedOrigins: config.mcpAllowedOrigins,
    })
  }
  return server
}
